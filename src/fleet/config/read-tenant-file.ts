import { BailiwickError } from '../../errors.ts'
import type { Tree } from '../../git/tree.ts'
import type { ConfiguredSeverity, NamedRule } from '../model/fleet-config.ts'
import { tenantShape } from './fleet-shape.ts'
import { fileRoot } from './read-fleet-file.ts'

/** What the file in a tenant's own repository says. */
export interface TenantFile {
  readonly restricted: boolean
  readonly blocks: boolean
  readonly allowedSources: readonly string[] | undefined
  readonly severities: ReadonlyMap<string, ConfiguredSeverity>
  readonly namedRules: readonly NamedRule[]
}

/** Reads it; undefined where there is none. What loosens something has no key in it, so it is an error like any unknown key. */
export function readTenantFile(tree: Tree, repository: string): TenantFile | BailiwickError | undefined {
  try {
    const root = fileRoot(tree, repository)
    if (!root) return undefined
    const { profile, enforcement, allowedSources, severities = new Map() } = tenantShape.read(root, '')
    const named = [...severities].map(([id, { value, origin }]) => ({
      id,
      key: `severities.${id}`,
      origin,
      severity: value,
    }))
    return {
      restricted: profile !== undefined,
      blocks: enforcement !== undefined,
      allowedSources,
      severities: new Map(named.map(({ id, severity }) => [id, severity])),
      namedRules: named,
    }
  } catch (error) {
    if (error instanceof BailiwickError) return error
    throw error
  }
}
