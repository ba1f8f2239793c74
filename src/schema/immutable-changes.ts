import { at, isTrue, type MapNode, type Node, type Path, stringAt } from '../kube/node.ts'
import { isUnknown, type Problem } from './core/problem.ts'
import { compareQuantities, sameQuantity } from './core/resources.ts'

/** Fields of `after` for which the API server refuses it as an update of `before`. `kind`: `<group>/<Kind>`. */
export function immutableChanges(kind: string, before: MapNode, after: MapNode): readonly Problem[] {
  const problems = immutableFields(kind, before, after).flatMap(field => {
    const path = changedIn(at(before, field.path), at(after, field.path), field)
    return path === undefined ? [] : [changeOf([...field.path, ...path], field.words)]
  })
  const isStored = kind === 'apiextensions.k8s.io/CustomResourceDefinition' && losesStored(before, after)
  return isStored ? [...problems, changeOf(['spec', 'versions'])] : problems
}

const changeOf = (path: Path, words?: string): Problem => ({
  kind: 'immutable',
  path,
  allowed: 'the value that it has on the cluster',
  found: 'another value',
  ...(words ? { words } : {}),
})

/** Whether a definition loses the version in which the cluster stores its objects (`status.storedVersions` lists it). */
function losesStored(before: MapNode, after: MapNode): boolean {
  const [was, is] = [before, after].map(root => at(root, ['spec', 'versions']))
  if (was?.type !== 'list' || is?.type !== 'list') return false
  const isStored = (node: Node) => {
    return isTrue(at(node, ['storage']))
  }
  const names = is.items.map(node => stringAt(node, ['name']))
  return was.items.some(node => isStored(node) && !names.includes(stringAt(node, ['name'])))
}

/** Where two values differ first, below the field; undefined where they do not, or where that is not known. */
function changedIn(before: Node | undefined, after: Node | undefined, field: ImmutableField): Path | undefined {
  if (field.isAllocated && (isAbsent(before) || isAbsent(after))) {
    // an address stands on the cluster where none is written
    return field.path.at(-1) === 'clusterIP' && after && isText(after, 'None') ? [] : undefined
  }
  if (field.canBeSet && isAbsent(before)) return undefined
  if (field.grows) {
    const [was, is] = [scalarText(before), scalarText(after)]
    return was !== undefined && is !== undefined && (compareQuantities(was, is) ?? 0) > 0 ? [] : undefined
  }
  if (field.default !== undefined) {
    const [was, is] = [before, after].map(node => (isAbsent(node) ? field.default : scalarText(node)))
    return was === undefined || is === undefined || was === is ? undefined : []
  }
  return difference(before, after, field, '')
}

/** Keys that kustomize and people write beside others of the same meaning. */
const NOT_COMPARED = new Set(['status', 'creationTimestamp'])

function difference(
  before: Node | undefined,
  after: Node | undefined,
  field: ImmutableField,
  key: string,
): Path | undefined {
  const isPod = field.isPod === true
  if ((before && isUnknown(before)) || (after && isUnknown(after))) return undefined
  if (isAbsent(before) || isAbsent(after)) {
    const there = isAbsent(before) ? after : before
    return isAbsent(there) || (isPod && isDefault(there!, key)) ? undefined : []
  }
  if (before!.type === 'map' && after!.type === 'map') return mapDifference(before as MapNode, after as MapNode, field)
  if (before!.type === 'list' && after!.type === 'list') {
    const [was, is] = [before, after] as [typeof before & { type: 'list' }, typeof after & { type: 'list' }]
    for (let index = 0; index < Math.max(was.items.length, is.items.length); index++) {
      const found = difference(was.items[index], is.items[index], field, key)
      if (found) return [index, ...found]
    }
    return undefined
  }
  const [was, is] = [scalarText(before), scalarText(after)]
  if (was === undefined || is === undefined) return before!.type === after!.type ? undefined : []
  return was === is || (isPod && sameQuantity(was, is)) ? undefined : []
}

function mapDifference(before: MapNode, after: MapNode, field: ImmutableField): Path | undefined {
  for (const key of new Set([...before.fields.keys(), ...after.fields.keys()])) {
    if ((field.isPod && NOT_COMPARED.has(key)) || field.except?.includes(key)) continue
    const found = difference(before.fields.get(key)?.value, after.fields.get(key)?.value, field, key)
    if (found) return [key, ...found]
  }
  return undefined
}

const isAbsent = (node: Node | undefined): boolean => {
  if (node === undefined) return true
  if (node.type === 'list') return node.items.length === 0
  if (node.type === 'map') return node.fields.size === 0
  return node.value === null
}

const isText = (node: Node, text: string): boolean => node.type === 'scalar' && node.value === text

const scalarText = (node: Node | undefined): string | undefined =>
  node?.type === 'scalar' && !isUnknown(node) ? String(node.value) : undefined

/** Whether a value may be what the API server writes, or reads as nothing, where none stands. */
function isDefault(node: Node, key: string): boolean {
  if (node.type === 'list') return false
  if (node.type === 'map') return [...node.fields].every(([name, { value }]) => isDefault(value, name))
  if (node.value === '' || node.value === false || node.value === 0) return true
  return POD_DEFAULTS.get(key)?.includes(String(node.value)) ?? false
}

/** A field that an update may not change. */
interface ImmutableField {
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
function immutableFields(kind: string, before: MapNode, after: MapNode): readonly ImmutableField[] {
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

/** Defaults of a Pod's spec and of claims by the name of the field: k8s.io/kubernetes, pkg/apis/core/v1/defaults.go. */
const POD_DEFAULTS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    restartPolicy: ['Always'],
    dnsPolicy: ['ClusterFirst'],
    schedulerName: ['default-scheduler'],
    terminationGracePeriodSeconds: ['30'],
    terminationMessagePath: ['/dev/termination-log'],
    terminationMessagePolicy: ['File'],
    // which of them is a matter of the image's tag
    imagePullPolicy: ['Always', 'IfNotPresent'],
    protocol: ['TCP'],
    apiVersion: ['v1'],
    kind: ['PersistentVolumeClaim'],
    volumeMode: ['Filesystem'],
    defaultMode: ['420'],
    enableServiceLinks: ['true'],
    scheme: ['HTTP'],
    path: ['/'],
    timeoutSeconds: ['1'],
    periodSeconds: ['10'],
    successThreshold: ['1'],
    failureThreshold: ['3'],
    expirationSeconds: ['3600'],
    procMount: ['Default'],
    divisor: ['0', '1'],
    type: ['', 'File'],
    nodeAffinityPolicy: ['Honor'],
    nodeTaintsPolicy: ['Ignore'],
    priority: ['0'],
    preemptionPolicy: ['PreemptLowerPriority'],
    serviceAccountName: ['default'],
    serviceAccount: ['default'],
    fsType: ['ext4'],
  }),
)
