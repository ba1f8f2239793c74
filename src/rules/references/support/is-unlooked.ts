import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { Subject } from '../../../facts/subject.ts'
import { capabilityOf } from '../../../kube/capabilities/index.ts'
import { isKubernetesKind, misspelled } from '../../../kube/scope/scope.ts'

/** Flux's own kinds, and those of Capsule, have rules of their own. */
const WITH_RULES =
  /^(?:[a-z]+\.(?:toolkit|contrib|extensions)\.fluxcd\.io|fluxcd\.controlplane\.io|capsule\.clastix\.io)\//

/** Whether an object in a namespace is of a kind of which no rule knows what it can do. */
export function isUnlooked({ kind, id, node }: Subject, index: FleetIndex): boolean {
  // of a misspelled kind of Kubernetes another rule speaks
  if (isKubernetesKind(kind) || misspelled(id.apiVersion, id.kind) !== undefined) return false
  if (WITH_RULES.test(kind) || capabilityOf(kind) !== undefined) return false
  return index.scopeOf(node.cluster, id.apiVersion, id.kind) !== 'Cluster'
}
