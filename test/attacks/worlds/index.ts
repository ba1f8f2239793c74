import type { Files } from '../../fleet/fleet-of.ts'
import { acme, sealed } from './acme.ts'
import { apps } from './apps.ts'
import { capsule } from './capsule.ts'
import { monorepo } from './monorepo.ts'
import { open } from './open.ts'
import { recipe } from './recipe.ts'

/** A repository of a world; the first one is the fleet. */
export interface Repository {
  readonly name: string
  readonly url: string
  readonly branch: string
  readonly files: Files
}

/** A small fleet with its tenants, clean by itself. */
export interface World {
  readonly name: string
  readonly repositories: readonly Repository[]
}

/** Every world, by name. A world's fleet reads `tenants/`, its tenant dev-team `deploy/` with `web.yaml` in it. */
export const worlds: ReadonlyMap<string, World> = new Map(
  [acme, apps, capsule, monorepo, open, recipe, sealed].map(world => [world.name, world]),
)
