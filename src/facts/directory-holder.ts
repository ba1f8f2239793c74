import type { FleetNode } from '../fleet/model/fleet.ts'
import { artifactPath } from '../flux/artifact-path.ts'

/** Who deploys from which directory of one repository, as the platform declared it: names of tenants, '' for the platform itself. */
export interface Directories {
  readonly holders: ReadonlyMap<string, ReadonlySet<string>>
  /** Who holds a directory, or one below it. */
  readonly below: ReadonlyMap<string, ReadonlySet<string>>
}

interface Declared extends Directories {
  readonly holders: Map<string, Set<string>>
  readonly below: Map<string, Set<string>>
}

/** Whose a directory is that is not the tenant's. */
export type DirectoryHolder = 'another tenant' | 'the platform'

/** The directories of every repository, by address: `declaredBy` tells who renders a node's Kustomization. */
export function declaredDirectories(
  nodes: Iterable<FleetNode>,
  declaredBy: (node: FleetNode) => string | undefined,
): ReadonlyMap<string, Directories> {
  const repositories = new Map<string, Declared>()
  for (const node of nodes) {
    // what a tenant declares would close a directory for everybody else
    if (node.source.url === '' || declaredBy(node) !== undefined) continue
    const { holders, below } = repositories.get(node.source.url) ?? { holders: new Map(), below: new Map() }
    repositories.set(node.source.url, { holders, below })
    const path = artifactPath(node.path)
    add(holders, path, node.tenant ?? '')
    for (let here: string | undefined = path; here !== undefined; here = parentOf(here)) {
      add(below, here, node.tenant ?? '')
    }
  }
  return repositories
}

function add(parties: Map<string, Set<string>>, path: string, party: string): void {
  parties.set(path, (parties.get(path) ?? new Set()).add(party))
}

/** Whether someone else than the tenant and the platform holds a directory below a path that is not the tenant's. */
export function holdsOthersBelow({ holders, below }: Directories, path: string, tenant: string): boolean {
  for (let here: string | undefined = path; here !== undefined; here = parentOf(here)) {
    if (holders.get(here)?.has(tenant)) return false
  }
  const parties = below.get(path)
  if (!parties) return false
  return parties.size > Number(parties.has(tenant)) + Number(parties.has(''))
}

/** Whose a path is, if it is neither the tenant's nor nobody's: that of the longest declared path above it. */
export function holderOf({ holders }: Directories, path: string, tenant: string): DirectoryHolder | undefined {
  let holder: DirectoryHolder | undefined
  for (let here: string | undefined = path; here !== undefined; here = parentOf(here)) {
    const found = holders.get(here)
    if (!found) continue
    if (found.has(tenant)) return undefined
    holder ??= found.has('') ? 'the platform' : 'another tenant'
  }
  return holder
}

const parentOf = (path: string) => (path === '' ? undefined : path.slice(0, Math.max(0, path.lastIndexOf('/'))))
