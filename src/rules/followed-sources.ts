import type { FleetNode } from '../fleet/fleet.ts'
import { refKey } from '../fleet/ref.ts'
import type { Rendered } from './object-table.ts'
import { followedBy } from './source-ref.ts'

/** Who follows what of which repository. */
export interface FollowedSources {
  /** By `<url> <refKey>`; `platform`: a source that the platform declares, maybe besides others. */
  readonly byRef: ReadonlyMap<string, 'platform' | 'tenant'>
  /** Repositories that the platform declares a source for. */
  readonly known: ReadonlySet<string>
}

/** What the GitRepositories of a fleet follow, and the roots of its clusters, which bootstrap made. */
export function followedSources(sources: Iterable<Rendered>, nodes: readonly FleetNode[]): FollowedSources {
  const byRef = new Map<string, 'platform' | 'tenant'>()
  const known = new Set<string>()
  for (const { source, parent } of nodes) {
    if (parent !== undefined || source.url === '') continue
    byRef.set(`${source.url} ${refKey(source.ref)}`, 'platform')
    known.add(source.url)
  }
  for (const { object, node } of sources) {
    const { url, ref } = followedBy(object)
    const key = `${url} ${refKey(ref)}`
    if (node.tenant !== undefined) byRef.set(key, byRef.get(key) ?? 'tenant')
    else {
      byRef.set(key, 'platform')
      known.add(url)
    }
  }
  return { byRef, known }
}
