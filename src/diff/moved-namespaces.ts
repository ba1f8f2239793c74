import { stringAt } from '../kube/node.ts'
import { groupOf, type KubeObject, type ObjectId } from '../kube/object.ts'
import type { FleetComparison, NodePair } from './compare-fleets.ts'
import type { ObjectPair } from './pair-objects.ts'

/**
 * Objects of a node that only change their namespace, by what is new: each with what is gone. Only where one of a kind and
 * name is deleted and one is added; anything else is what it looks like.
 */
export function movedNamespaces(pair: NodePair, fleets: FleetComparison): ReadonlyMap<ObjectPair, ObjectPair> {
  const cluster = (pair.now ?? pair.was)!.cluster
  const inNamespace = pair.objects.filter(({ id }) => id.namespace !== '')
  const gone = inNamespace.filter(one => !one.now && fleets.fateOf(pair, one) === 'deleted')
  const come = Map.groupBy(
    inNamespace.filter(one => !one.was && fleets.movedFrom(cluster, one) === undefined),
    nameKey,
  )
  const moves = new Map<ObjectPair, ObjectPair>()
  for (const [key, before] of Map.groupBy(gone, nameKey)) {
    const after = come.get(key) ?? []
    if (before.length === 1 && after.length === 1) moves.set(after[0]!, before[0]!)
  }
  return moves
}

const nameKey = ({ id }: ObjectPair) => [groupOf(id.apiVersion), id.kind, id.name].join('\0')

/** Kinds that are the same again once they are made anew: nothing is kept in them, or by what a controller makes of them. */
const STATELESS: ReadonlySet<string> = new Set([
  ...['ConfigMap', 'Secret', 'ServiceAccount', 'Service', 'LimitRange', 'ResourceQuota'].map(kind => `/${kind}`),
  ...['Deployment', 'DaemonSet'].map(kind => `apps/${kind}`),
  'autoscaling/HorizontalPodAutoscaler',
  'batch/CronJob',
  'policy/PodDisruptionBudget',
  ...['Ingress', 'NetworkPolicy'].map(kind => `networking.k8s.io/${kind}`),
  ...['Role', 'RoleBinding'].map(kind => `rbac.authorization.k8s.io/${kind}`),
])

/** Whether nothing is lost when an object is deleted and made anew in another namespace. A load balancer gets another address. */
export function isStateless({ apiVersion, kind }: ObjectId, object: KubeObject): boolean {
  if (!STATELESS.has(`${groupOf(apiVersion)}/${kind}`)) return false
  return kind !== 'Service' || stringAt(object.root, ['spec', 'type']) !== 'LoadBalancer'
}
