import { KUBERNETES } from '../../kube/scope-table.ts'
import type { FleetIndex } from '../fleet-index.ts'
import { hasKey } from '../has-key.ts'
import type { Subject } from '../rule.ts'

const BUILT_IN = new Set(
  Object.entries(KUBERNETES).flatMap(([group, { namespaced, cluster }]) =>
    `${namespaced} ${cluster}`.split(' ').map(kind => `${group}/${kind}`),
  ),
)
// The past states of a workload are whole templates.
BUILT_IN.delete('apps/ControllerRevision')

/** What other rules read, values and all. */
const READ_ELSEWHERE = 'helm.toolkit.fluxcd.io/HelmRelease'

/**
 * Whether an object is of a kind that some controller may make workloads of, in a namespace: none of Kubernetes itself,
 * and with one of the keys that tell so.
 */
export function isCustomKind(
  { kind, id, node, object }: Subject,
  index: FleetIndex,
  keys: ReadonlySet<string>,
): boolean {
  if (kind === READ_ELSEWHERE || BUILT_IN.has(kind) || !hasKey(object.root, keys)) return false
  return index.scopeOf(node.cluster, id.apiVersion, id.kind) !== 'Cluster'
}
