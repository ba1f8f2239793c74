import { textNode, withField, withoutField } from '../kube/edit-node.ts'
import { type MapNode, type Node, stringAt } from '../kube/node.ts'
import type { Origin } from '../kube/origin.ts'
import { canonicalQuantity } from './quantity.ts'

type Zero = 'map' | 'null' | 'text' | 'zero'

/** What Go writes into a type though nobody set it, and what it is made of. */
interface GoType {
  readonly zeros?: Readonly<Record<string, Zero>>
  readonly fields?: Readonly<Record<string, string>>
  /** Fields that are left out when they are the empty text. */
  readonly omitEmpty?: readonly string[]
  /** Maps of quantities. */
  readonly quantities?: readonly string[]
}

const POD_OWNER = { fields: { template: 'PodTemplate' } }

const TYPES: Readonly<Record<string, GoType>> = {
  'v1 Namespace': { zeros: { spec: 'map' } },
  'v1 Service': { zeros: { spec: 'map' }, fields: { spec: 'ServiceSpec' } },
  ServiceSpec: { fields: { ports: 'ServicePort' } },
  ServicePort: { zeros: { targetPort: 'zero' } },
  'v1 Pod': { zeros: { spec: 'map' }, fields: { spec: 'PodSpec' } },
  PodTemplate: { zeros: { metadata: 'map', spec: 'map' }, fields: { spec: 'PodSpec' } },
  PodSpec: { zeros: { containers: 'null' }, fields: { containers: 'Container', initContainers: 'Container' } },
  Container: { zeros: { name: 'text', resources: 'map' }, fields: { env: 'EnvVar', resources: 'Resources' } },
  EnvVar: { omitEmpty: ['value'] },
  Resources: { quantities: ['limits', 'requests'] },
  'apps/v1 Deployment': { zeros: { spec: 'map' }, fields: { spec: 'DeploymentSpec' } },
  DeploymentSpec: { zeros: { selector: 'null', template: 'map', strategy: 'map' }, ...POD_OWNER },
  'apps/v1 DaemonSet': { zeros: { spec: 'map' }, fields: { spec: 'DaemonSetSpec' } },
  DaemonSetSpec: { zeros: { selector: 'null', template: 'map', updateStrategy: 'map' }, ...POD_OWNER },
  'apps/v1 ReplicaSet': { zeros: { spec: 'map' }, fields: { spec: 'ReplicaSetSpec' } },
  ReplicaSetSpec: { zeros: { selector: 'null', template: 'map' }, ...POD_OWNER },
  'apps/v1 StatefulSet': { zeros: { spec: 'map' }, fields: { spec: 'StatefulSetSpec' } },
  StatefulSetSpec: {
    zeros: { selector: 'null', template: 'map', serviceName: 'text', updateStrategy: 'map' },
    fields: { template: 'PodTemplate', volumeClaimTemplates: 'Claim' },
  },
  Claim: { zeros: { metadata: 'map', spec: 'map', status: 'map' }, fields: { spec: 'ClaimSpec' } },
  'v1 PersistentVolumeClaim': { zeros: { spec: 'map' }, fields: { spec: 'ClaimSpec' } },
  ClaimSpec: { zeros: { resources: 'map' }, fields: { resources: 'Resources' } },
  'batch/v1 Job': { zeros: { spec: 'map' }, fields: { spec: 'JobSpec' } },
  JobSpec: { zeros: { template: 'map' }, ...POD_OWNER },
  'batch/v1 CronJob': { zeros: { spec: 'map' }, fields: { spec: 'CronJobSpec' } },
  CronJobSpec: { zeros: { schedule: 'text', jobTemplate: 'map' }, fields: { jobTemplate: 'JobTemplate' } },
  JobTemplate: { zeros: { metadata: 'map', spec: 'map' }, fields: { spec: 'JobSpec' } },
  'rbac.authorization.k8s.io/v1 RoleBinding': { zeros: { roleRef: 'map' }, fields: { roleRef: 'RoleRef' } },
  'rbac.authorization.k8s.io/v1 ClusterRoleBinding': { zeros: { roleRef: 'map' }, fields: { roleRef: 'RoleRef' } },
  RoleRef: { zeros: { apiGroup: 'text', kind: 'text', name: 'text' } },
  'networking.k8s.io/v1 NetworkPolicy': { zeros: { spec: 'map' }, fields: { spec: 'NetworkPolicySpec' } },
  NetworkPolicySpec: { zeros: { podSelector: 'map' } },
  'networking.k8s.io/v1 Ingress': { zeros: { spec: 'map' } },
  'autoscaling/v2 HorizontalPodAutoscaler': { zeros: { spec: 'map' }, fields: { spec: 'ScalerSpec' } },
  ScalerSpec: { zeros: { scaleTargetRef: 'map', maxReplicas: 'zero' }, fields: { scaleTargetRef: 'ScaleTarget' } },
  ScaleTarget: { zeros: { kind: 'text', name: 'text' } },
  'policy/v1 PodDisruptionBudget': { zeros: { spec: 'map' } },
  'v1 ResourceQuota': { zeros: { spec: 'map' }, fields: { spec: 'QuotaSpec' } },
  QuotaSpec: { quantities: ['hard'] },
  'v1 LimitRange': { zeros: { spec: 'map' }, fields: { spec: 'LimitRangeSpec' } },
  LimitRangeSpec: { zeros: { limits: 'null' }, fields: { limits: 'LimitRangeItem' } },
  LimitRangeItem: {
    zeros: { type: 'text' },
    quantities: ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'],
  },
}

/**
 * A built-in object as it looks after Go has decoded and encoded it, which Flux does before it applies: empty parts
 * that are always written, quantities in their short form. They mean the same to the API server; they are written so
 * that what we show and hash is what Flux applies.
 */
export function withGoZeroValues(root: MapNode): MapNode {
  const apiVersion = stringAt(root, ['apiVersion']) ?? ''
  return complete(root, TYPES[`${apiVersion} ${stringAt(root, ['kind']) ?? ''}`]) as MapNode
}

function complete(node: Node, type: GoType | undefined): Node {
  if (!type || node.type === 'scalar') return node
  if (node.type === 'list') return { ...node, items: node.items.map(item => complete(item, type)) }
  let map = node
  for (const field of type.omitEmpty ?? []) if (stringAt(map, [field]) === '') map = withoutField(map, field)
  for (const [field, zero] of Object.entries(type.zeros ?? {})) {
    if (!map.fields.has(field)) map = withField(map, field, zeroNode(zero, map.origin))
  }
  for (const field of type.quantities ?? []) map = shortenQuantities(map, field)
  for (const [field, name] of Object.entries(type.fields ?? {})) {
    const value = map.fields.get(field)?.value
    if (value) map = withField(map, field, complete(value, TYPES[name]))
  }
  return map
}

function zeroNode(zero: Zero, origin: Origin): Node {
  if (zero === 'map') return { type: 'map', fields: new Map(), origin }
  if (zero === 'text') return textNode('', origin)
  return { type: 'scalar', value: zero === 'null' ? null : 0, origin }
}

function shortenQuantities(map: MapNode, field: string): MapNode {
  const quantities = map.fields.get(field)?.value
  if (quantities?.type !== 'map') return map
  let result = quantities
  for (const [key, { value }] of quantities.fields) {
    const short = value.type === 'scalar' ? canonicalQuantity(value.value) : undefined
    if (short !== undefined) result = withField(result, key, { type: 'scalar', value: short, origin: value.origin })
  }
  return withField(map, field, result)
}
