import type { Aliases } from '../fleet/model/address-in.ts'
import type { FleetNode } from '../fleet/model/fleet.ts'
import { refKey } from '../fleet/model/ref.ts'
import { GIT_REPOSITORY } from '../flux/kinds.ts'
import { idOf } from '../kube/object.ts'
import type { FleetAnswers } from './fleet-answers.ts'
import type { Rendered } from './object-table.ts'
import { followedBy } from './source-ref.ts'

/** Who follows what of which repository. */
export interface FollowedSources {
  /** By `<url> <refKey>`; `platform`: a source that the platform declares, maybe besides others. */
  readonly byRef: ReadonlyMap<string, 'platform' | 'tenant'>
  /** For whom the platform declares sources of a repository: names of tenants, '' for itself. */
  readonly known: ReadonlyMap<string, ReadonlySet<string>>
}

/** The tenant of a namespace. */
type OwnerOf = (cluster: string, namespace: string) => string | undefined

/** The same for all that an index knows. */
export function followedIn(index: FleetAnswers, nodes: readonly FleetNode[]): FollowedSources {
  const sources = index.clusters().flatMap(name => index.renderedAnywhere(name, GIT_REPOSITORY))
  const ownerOf: OwnerOf = (cluster, namespace) => index.ownerOf(cluster, namespace)
  return followedSources(sources, nodes, ownerOf, index.aliases())
}

/** What the GitRepositories of a fleet follow, and the roots of its clusters, which bootstrap made. */
function followedSources(
  sources: Iterable<Rendered>,
  nodes: readonly FleetNode[],
  ownerOf: OwnerOf,
  aliases: Aliases,
): FollowedSources {
  const byRef = new Map<string, 'platform' | 'tenant'>()
  const known = new Map<string, Set<string>>()
  const know = (url: string, whose: string) => known.set(url, (known.get(url) ?? new Set()).add(whose))
  for (const { source, parent } of nodes) {
    if (parent !== undefined || source.url === '') continue
    byRef.set(`${source.url} ${refKey(source.ref)}`, 'platform')
    know(source.url, '')
  }
  for (const { object, node } of sources) {
    const { url, ref } = followedBy(object, aliases)
    const key = `${url} ${refKey(ref)}`
    if (node.tenant !== undefined) byRef.set(key, byRef.get(key) ?? 'tenant')
    else {
      byRef.set(key, 'platform')
      know(url, ownerOf(node.cluster, idOf(object).namespace) ?? '')
    }
  }
  return { byRef, known }
}
