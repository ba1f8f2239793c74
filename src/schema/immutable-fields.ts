import { at, isTrue, type MapNode, type Path } from '../kube/node.ts'

/** A field that an update may not change. */
export interface ImmutableField {
  readonly path: Path
  /** What the API server writes where nothing stands: a change from or to it is none. */
  readonly default?: string
  /** It is a Pod's spec, or holds some: nested defaults count. */
  readonly isPod?: true
  /** Names of mutable fields below it. */
  readonly except?: readonly string[]
  /** Only what both objects say: what stands in the cluster for an absent one is not known. */
  readonly isAllocated?: true
  /** It can be added. */
  readonly canBeSet?: true
  /** What every version of the API server answers. */
  readonly words?: string
  /** A quantity that may grow. */
  readonly grows?: true
}

const field = (path: string, more: Omit<ImmutableField, 'path'> = {}): ImmutableField => ({
  path: path.split('.'),
  ...more,
})

const SELECTOR = [field('spec.selector')]
const ROLE_REF = [field('roleRef', { words: 'cannot change roleRef' })]

/** The mutable fields of a running Pod (ValidatePodUpdate); fields that the scheduler and admission set count as unchanged. */
const CHANGES_OF_PODS = [
  'image',
  'tolerations',
  'activeDeadlineSeconds',
  'terminationGracePeriodSeconds',
  'schedulingGates',
  'nodeName',
]
const VOLUMES = [
  'csi',
  'fc',
  'hostPath',
  'iscsi',
  'local',
  'nfs',
  'rbd',
  'cephfs',
  'awsElasticBlockStore',
  'gcePersistentDisk',
]

/** By `<group>/<Kind>`: k8s.io/kubernetes, pkg/apis/<group>/validation, Validate*Update. A test asks a real API server about each. */
const FIELDS: ReadonlyMap<string, readonly ImmutableField[]> = new Map([
  ['apps/Deployment', SELECTOR],
  ['apps/DaemonSet', SELECTOR],
  ['apps/ReplicaSet', SELECTOR],
  [
    'apps/StatefulSet',
    [
      ...SELECTOR,
      field('spec.serviceName', { default: '' }),
      field('spec.podManagementPolicy', { default: 'OrderedReady' }),
      field('spec.volumeClaimTemplates', { isPod: true }),
    ],
  ],
  [
    'batch/Job',
    [
      field('spec.selector', { isAllocated: true }),
      field('spec.completionMode', { default: 'NonIndexed' }),
      field('spec.podFailurePolicy'),
      field('spec.successPolicy'),
      field('spec.backoffLimitPerIndex'),
      field('spec.managedBy'),
      field('spec.template', { isPod: true }),
    ],
  ],
  ['rbac.authorization.k8s.io/RoleBinding', ROLE_REF],
  ['rbac.authorization.k8s.io/ClusterRoleBinding', ROLE_REF],
  ['/Secret', [field('type', { default: 'Opaque' })]],
  [
    '/PersistentVolumeClaim',
    [
      field('spec.accessModes'),
      field('spec.selector'),
      field('spec.dataSource'),
      // the API server writes it where dataSource stands
      field('spec.dataSourceRef', { isAllocated: true }),
      // a claim of more than the volume has can be made smaller again, down to what the volume has
      field('spec.resources.requests.storage', { grows: true }),
      field('spec.resources.limits', { isPod: true }),
      field('spec.storageClassName', { isAllocated: true }),
      field('spec.volumeName', { isAllocated: true }),
      field('spec.volumeMode', { default: 'Filesystem' }),
    ],
  ],
  [
    'storage.k8s.io/StorageClass',
    [
      field('provisioner'),
      field('parameters'),
      field('reclaimPolicy', { default: 'Delete' }),
      field('volumeBindingMode', { default: 'Immediate' }),
    ],
  ],
  [
    'scheduling.k8s.io/PriorityClass',
    [field('value', { default: '0' }), field('preemptionPolicy', { default: 'PreemptLowerPriority' })],
  ],
  ['networking.k8s.io/IngressClass', [field('spec.controller')]],
  ['node.k8s.io/RuntimeClass', [field('handler')]],
  ['discovery.k8s.io/EndpointSlice', [field('addressType')]],
  ['/Pod', [field('spec', { isPod: true, except: CHANGES_OF_PODS })]],
  [
    '/PersistentVolume',
    [
      field('spec.volumeMode', { default: 'Filesystem' }),
      field('spec.nodeAffinity', { canBeSet: true }),
      ...VOLUMES.map(source => field(`spec.${source}`, { isPod: true })),
    ],
  ],
  [
    'storage.k8s.io/CSIDriver',
    [field('spec.attachRequired', { default: 'true' }), field('spec.volumeLifecycleModes', { isAllocated: true })],
  ],
  ['storage.k8s.io/CSIStorageCapacity', [field('storageClassName'), field('nodeTopology')]],
  ['storage.k8s.io/VolumeAttachment', [field('spec')]],
  ['storage.k8s.io/VolumeAttributesClass', [field('driverName'), field('parameters')]],
  ['resource.k8s.io/ResourceClaim', [field('spec', { isPod: true })]],
  ['resource.k8s.io/ResourceClaimTemplate', [field('spec', { isPod: true })]],
  ['apiextensions.k8s.io/CustomResourceDefinition', [field('spec.scope'), field('spec.names.kind')]],
  ['/ResourceQuota', [field('spec.scopes')]],
])

/** Whether objects of a kind (`<group>/<Kind>`) can have fields that an update may not change. */
export const hasImmutableFields = (kind: string): boolean =>
  FIELDS.has(kind) || kind === '/ConfigMap' || kind === '/Service'

/** What an update of this object may not change; `before` is what stands on the cluster. */
export function immutableFields(kind: string, before: MapNode, after: MapNode): readonly ImmutableField[] {
  const fields = FIELDS.get(kind) ?? []
  if ((kind === '/Secret' || kind === '/ConfigMap') && isTrue(at(before, ['immutable'])))
    return [...fields, field('immutable'), field('data'), field('stringData'), field('binaryData')]
  if (kind === '/Service') return ofService(before, after)
  if (kind !== 'batch/Job') return fields
  const all = [...fields, ...completions(before, after)]
  // a Job that waits may still get another place to run
  return isTrue(at(before, ['spec', 'suspend'])) ? all.filter(one => !one.isPod) : all
}

/** Addresses of a Service stay while it has some, and so does the controller of its load balancer. */
function ofService(before: MapNode, after: MapNode): readonly ImmutableField[] {
  const types = [before, after].map(root => textAt(root, ['spec', 'type']))
  if (types.includes('ExternalName')) return []
  const addresses = [
    field('spec.clusterIP', { isAllocated: true }),
    { path: ['spec', 'ipFamilies', 0], isAllocated: true } as const,
  ]
  if (types.some(type => type !== 'LoadBalancer')) return addresses
  return [...addresses, field('spec.loadBalancerClass'), field('spec.healthCheckNodePort', { isAllocated: true })]
}

/** Only Jobs with an index change their number of Pods, and only together with how many run at once. */
function completions(before: MapNode, after: MapNode): readonly ImmutableField[] {
  const isIndexed = textAt(after, ['spec', 'completionMode']) === 'Indexed'
  if (isIndexed && textAt(after, ['spec', 'completions']) === textAt(after, ['spec', 'parallelism'])) return []
  // without either number both are 1
  const isWhole = [before, after].every(root => at(root, ['spec', 'parallelism']) === undefined)
  return [field('spec.completions', isWhole ? { default: '1' } : {})]
}

const textAt = (root: MapNode, path: Path): string => {
  const node = at(root, path)
  return node?.type === 'scalar' ? String(node.value) : ''
}
