import type { FleetInput } from '../../src/fleet/model/input.ts'
import { openSnapshot, packSnapshot, type Tree } from '../../src/git/tree.ts'
import { type Files, FLEET_URL, platformFiles } from './platform-files.ts'
import { tenantFiles } from './tenant-files.ts'

/** A fleet as files: its own repository and that of each tenant, by address. */
export interface GeneratedFleet {
  readonly fleet: Files
  readonly tenants: ReadonlyMap<string, Files>
}

/** So many tenants on two clusters. The same size is the same fleet. */
export function generatedFleet(size: number): GeneratedFleet {
  const names = Array.from({ length: size }, (_, index) => `team-${String(index).padStart(4, '0')}`)
  return {
    fleet: platformFiles(names, addressOf),
    tenants: new Map(names.map(name => [addressOf(name), tenantFiles(name)])),
  }
}

const addressOf = (tenant: string) => `https://github.com/acme/${tenant}`

/** Tree of files; ids are those that git would give. */
function treeOf(files: Files): Tree {
  return openSnapshot(packSnapshot([...files].map(([path, content]) => ({ path, content }))))
}

/** What evaluates the fleet: every repository at one commit. */
export function inputOf({ fleet, tenants }: GeneratedFleet): FleetInput {
  return {
    fleet: { url: FLEET_URL, branch: 'main', commit: 'f'.repeat(40), tree: treeOf(fleet) },
    sources: [...tenants].map(([url, files]) => ({
      url,
      ref: { branch: 'main' },
      commit: 'a'.repeat(40),
      tree: treeOf(files),
    })),
    opaque: [],
  }
}

/**
 * The repository of the fleet alone, which is all that kustomize is given when it builds every overlay and base of it:
 * nobody has read those of the tenants, so their Kustomizations are evaluated by their accounts.
 */
export function fleetAlone({ fleet, sources }: FleetInput): FleetInput {
  return { fleet, sources: [], opaque: sources.map(({ url, ref }) => ({ url, ref, reason: 'it was not given' })) }
}

/** The input with another tree for the repository at `url`. */
export function withTree(input: FleetInput, url: string, files: Files): FleetInput {
  const tree = treeOf(files)
  const commit = tree.id
  if (url === FLEET_URL) return { ...input, fleet: { ...input.fleet, tree, commit } }
  return { ...input, sources: input.sources.map(source => (source.url === url ? { ...source, tree, commit } : source)) }
}
