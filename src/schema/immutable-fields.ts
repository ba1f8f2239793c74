import { at, type MapNode, type Node, type Path } from '../kube/node.ts'

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
}

const field = (path: string, more: Omit<ImmutableField, 'path'> = {}): ImmutableField => ({
  path: path.split('.'),
  ...more,
})

const SELECTOR = [field('spec.selector')]
const ROLE_REF = [field('roleRef')]

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
      ...VOLUMES.map(source => field(`spec.${source}`, { isPod: true })),
    ],
  ],
  ['storage.k8s.io/CSIDriver', [field('spec.attachRequired', { default: 'true' })]],
  ['storage.k8s.io/VolumeAttributesClass', [field('driverName'), field('parameters')]],
  ['resource.k8s.io/ResourceClaim', [field('spec', { isPod: true })]],
  ['resource.k8s.io/ResourceClaimTemplate', [field('spec', { isPod: true })]],
  ['apiextensions.k8s.io/CustomResourceDefinition', [field('spec.group'), field('spec.scope')]],
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
  if (kind === '/Service' && ![before, after].some(root => textAt(root, ['spec', 'type']) === 'ExternalName'))
    return [field('spec.clusterIP', { isAllocated: true })]
  // a Job that waits may still get another place to run
  if (kind === 'batch/Job' && isTrue(at(before, ['spec', 'suspend']))) return fields.filter(one => !one.isPod)
  return fields
}

const isTrue = (node: Node | undefined): boolean => node?.type === 'scalar' && node.value === true
const textAt = (root: MapNode, path: Path): string => {
  const node = at(root, path)
  return node?.type === 'scalar' ? String(node.value) : ''
}
