import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { Subject } from '../../../facts/subject.ts'
import { isToolkitKind } from '../../../flux/kinds.ts'
import type { Node } from '../../../kube/node.ts'
import { KUBERNETES } from '../../../kube/scope/kubernetes-scopes.ts'

const BUILT_IN = new Set(
  Object.entries(KUBERNETES).flatMap(([group, { namespaced, cluster }]) =>
    `${namespaced} ${cluster}`.split(' ').map(kind => `${group}/${kind}`),
  ),
)
// The past states of a workload are whole templates.
BUILT_IN.delete('apps/ControllerRevision')

/**
 * Whether an object is of a kind that some controller may make workloads of, in a namespace: none of Kubernetes itself,
 * and with one of the keys that tell so.
 */
export function isCustomKind(
  { kind, id, node, object }: Subject,
  index: FleetIndex,
  keys: ReadonlySet<string>,
): boolean {
  if (BUILT_IN.has(kind) || isToolkitKind(kind) || !hasKey(object.root, keys)) return false
  return index.scopeOf(node.cluster, id.apiVersion, id.kind) !== 'Cluster'
}

/** Whether a map anywhere below a node has one of these keys; most objects have none, and this says so at little cost. */
function hasKey(node: Node, keys: ReadonlySet<string>): boolean {
  if (node.type === 'scalar') return false
  if (node.type === 'list') return node.items.some(item => hasKey(item, keys))
  for (const [key, { value }] of node.fields) if (keys.has(key) || hasKey(value, keys)) return true
  return false
}
