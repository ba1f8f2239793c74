import { KUBERNETES } from '../../kube/scope-table.ts'
import type { FleetIndex } from '../fleet-index.ts'
import type { Subject } from '../rule.ts'

const BUILT_IN = new Set(
  Object.entries(KUBERNETES).flatMap(([group, { namespaced }]) =>
    namespaced.split(' ').map(kind => `${group}/${kind}`),
  ),
)

/** What other rules read, values and all. */
const READ_ELSEWHERE = new Set(['helm.toolkit.fluxcd.io/HelmRelease'])

/** Whether an object is of a kind that some controller makes workloads of, in a namespace: none of Kubernetes itself. */
export function isCustomKind({ kind, id, node }: Subject, index: FleetIndex): boolean {
  if (READ_ELSEWHERE.has(kind)) return false
  if (BUILT_IN.has(kind)) return kind === 'apps/ControllerRevision'
  return index.scopeOf(node.cluster, id.apiVersion, id.kind) !== 'Cluster'
}
