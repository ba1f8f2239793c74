/** What is known of a place: of which type it is, and by which keys its elements merge; undefined without a schema. */
export type Schema = MergeField | undefined

/** Kinds of which kustomize 5.8.1 has a schema (Kubernetes 1.21); lists of any other kind are replaced by a patch. */
const KNOWN_KINDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['admissionregistration.k8s.io/v1', ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']],
  ['admissionregistration.k8s.io/v1beta1', ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']],
  ['apiextensions.k8s.io/v1', ['CustomResourceDefinition']],
  ['apiextensions.k8s.io/v1beta1', ['CustomResourceDefinition']],
  ['apiregistration.k8s.io/v1', ['APIService']],
  ['apiregistration.k8s.io/v1beta1', ['APIService']],
  ['apps/v1', ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet']],
  ['authentication.k8s.io/v1', ['TokenRequest', 'TokenReview']],
  ['authentication.k8s.io/v1beta1', ['TokenReview']],
  [
    'authorization.k8s.io/v1',
    ['LocalSubjectAccessReview', 'SelfSubjectAccessReview', 'SelfSubjectRulesReview', 'SubjectAccessReview'],
  ],
  [
    'authorization.k8s.io/v1beta1',
    ['LocalSubjectAccessReview', 'SelfSubjectAccessReview', 'SelfSubjectRulesReview', 'SubjectAccessReview'],
  ],
  ['autoscaling/v1', ['HorizontalPodAutoscaler', 'Scale']],
  ['autoscaling/v2beta1', ['HorizontalPodAutoscaler']],
  ['autoscaling/v2beta2', ['HorizontalPodAutoscaler']],
  ['batch/v1', ['CronJob', 'Job']],
  ['batch/v1beta1', ['CronJob']],
  ['certificates.k8s.io/v1', ['CertificateSigningRequest']],
  ['certificates.k8s.io/v1beta1', ['CertificateSigningRequest']],
  ['coordination.k8s.io/v1', ['Lease']],
  ['coordination.k8s.io/v1beta1', ['Lease']],
  ['discovery.k8s.io/v1', ['EndpointSlice']],
  ['discovery.k8s.io/v1beta1', ['EndpointSlice']],
  ['events.k8s.io/v1', ['Event']],
  ['events.k8s.io/v1beta1', ['Event']],
  ['extensions/v1beta1', ['Ingress']],
  ['flowcontrol.apiserver.k8s.io/v1beta1', ['FlowSchema', 'PriorityLevelConfiguration']],
  ['networking.k8s.io/v1', ['Ingress', 'IngressClass', 'NetworkPolicy']],
  ['networking.k8s.io/v1beta1', ['Ingress', 'IngressClass']],
  ['node.k8s.io/v1', ['RuntimeClass']],
  ['node.k8s.io/v1beta1', ['RuntimeClass']],
  ['policy/v1', ['PodDisruptionBudget']],
  ['policy/v1beta1', ['Eviction', 'PodDisruptionBudget', 'PodSecurityPolicy']],
  ['rbac.authorization.k8s.io/v1', ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding']],
  ['rbac.authorization.k8s.io/v1beta1', ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding']],
  ['scheduling.k8s.io/v1', ['PriorityClass']],
  ['scheduling.k8s.io/v1beta1', ['PriorityClass']],
  ['storage.k8s.io/v1', ['CSIDriver', 'CSINode', 'StorageClass', 'VolumeAttachment']],
  ['storage.k8s.io/v1beta1', ['CSIDriver', 'CSINode', 'CSIStorageCapacity', 'StorageClass', 'VolumeAttachment']],
  [
    'v1',
    [
      'Binding',
      'ComponentStatus',
      'ConfigMap',
      'Endpoints',
      'Event',
      'LimitRange',
      'Namespace',
      'Node',
      'PersistentVolume',
      'PersistentVolumeClaim',
      'Pod',
      'PodTemplate',
      'ReplicationController',
      'ResourceQuota',
      'Secret',
      'Service',
      'ServiceAccount',
    ],
  ],
])

/** Kinds that have merge lists of their own, beside those of every object's metadata. */
const KIND_TYPES: ReadonlyMap<string, string> = new Map([
  ['Pod', 'Pod'],
  ['PodTemplate', 'PodTemplate'],
  ['ReplicationController', 'Workload'],
  ['ReplicaSet', 'Workload'],
  ['DaemonSet', 'Workload'],
  ['Deployment', 'Workload'],
  ['StatefulSet', 'StatefulSet'],
  ['Job', 'Job'],
  ['CronJob', 'CronJob'],
  ['Service', 'Service'],
  ['ServiceAccount', 'ServiceAccount'],
  ['Node', 'Node'],
  ['Namespace', 'Conditions'],
  ['PersistentVolumeClaim', 'Conditions'],
  ['PodDisruptionBudget', 'Conditions'],
  ['APIService', 'Conditions'],
  ['ComponentStatus', 'ComponentStatus'],
  ['MutatingWebhookConfiguration', 'Webhooks'],
  ['ValidatingWebhookConfiguration', 'Webhooks'],
  ['CSINode', 'CSINode'],
])

/** The schema of the objects of a kind; undefined where kustomize has none. */
export function schemaOfObject(apiVersion: string, kind: string): Schema {
  if (!KNOWN_KINDS.get(apiVersion)?.includes(kind)) return undefined
  return { type: KIND_TYPES.get(kind) ?? 'Object' }
}

/** The schema of a field of a map. */
export function fieldSchema(schema: Schema, name: string): Schema {
  if (!schema) return undefined
  return (schema.type && MERGE_TYPES.get(schema.type)?.fields.get(name)) || NOTHING_SPECIAL
}

/** The schema of the elements of a list. */
export function elementSchema(schema: Schema): Schema {
  return schema?.type ? { type: schema.type } : NOTHING_SPECIAL
}

/** A place of which kustomize knows that nothing in it merges by keys. */
const NOTHING_SPECIAL: MergeField = {}

/** How a list merges under a strategic merge patch: by these keys of its elements; no keys for a list of plain values. */
interface MergeField {
  readonly keys?: readonly string[]
  readonly type?: string
}

/** What is known of the fields of a type; fields that hold no merge list, however deep, are left out. */
interface MergeType {
  readonly fields: ReadonlyMap<string, MergeField>
}

const POD_SPEC: Record<string, MergeField> = {
  containers: { keys: ['name'], type: 'Container' },
  initContainers: { keys: ['name'], type: 'Container' },
  ephemeralContainers: { keys: ['name'], type: 'EphemeralContainer' },
  hostAliases: { keys: ['ip'] },
  imagePullSecrets: { keys: ['name'] },
  topologySpreadConstraints: { keys: ['topologyKey', 'whenUnsatisfiable'] },
  volumes: { keys: ['name'], type: 'Volume' },
}

const MOUNTS: Record<string, MergeField> = {
  env: { keys: ['name'] },
  volumeDevices: { keys: ['devicePath'] },
  volumeMounts: { keys: ['mountPath'] },
}

const METADATA = { metadata: { type: 'ObjectMeta' } }
const CONDITIONS = { status: { type: 'Status' } }

/**
 * Merge lists of the built-in kinds as their OpenAPI of Kubernetes 1.21 states them
 * (`x-kubernetes-patch-strategy`, `-patch-merge-key`, `-list-map-keys`), which kustomize 5.8.1 goes by.
 */
const MERGE_TYPES: ReadonlyMap<string, MergeType> = new Map(
  Object.entries<Record<string, MergeField>>({
    Object: METADATA,
    ObjectMeta: { finalizers: { keys: [] }, ownerReferences: { keys: ['uid'] } },
    Status: { conditions: { keys: ['type'] } },
    Conditions: { ...METADATA, ...CONDITIONS },
    Pod: { ...METADATA, spec: { type: 'PodSpec' }, status: { type: 'PodStatus' } },
    PodStatus: { conditions: { keys: ['type'] }, podIPs: { keys: ['ip'] } },
    PodSpec: POD_SPEC,
    Container: { ...MOUNTS, ports: { keys: ['containerPort', 'protocol'] } },
    EphemeralContainer: MOUNTS,
    Volume: { ephemeral: { type: 'EphemeralVolume' } },
    EphemeralVolume: { volumeClaimTemplate: { type: 'Object' } },
    PodTemplateSpec: { ...METADATA, spec: { type: 'PodSpec' } },
    PodTemplate: { ...METADATA, template: { type: 'PodTemplateSpec' } },
    WorkloadSpec: { template: { type: 'PodTemplateSpec' } },
    Workload: { ...METADATA, ...CONDITIONS, spec: { type: 'WorkloadSpec' } },
    StatefulSetSpec: { template: { type: 'PodTemplateSpec' }, volumeClaimTemplates: { type: 'Conditions' } },
    StatefulSet: { ...METADATA, ...CONDITIONS, spec: { type: 'StatefulSetSpec' } },
    Job: { ...METADATA, ...CONDITIONS, spec: { type: 'WorkloadSpec' } },
    JobTemplate: { ...METADATA, spec: { type: 'WorkloadSpec' } },
    CronJobSpec: { jobTemplate: { type: 'JobTemplate' } },
    CronJob: { ...METADATA, spec: { type: 'CronJobSpec' } },
    ServiceSpec: { ports: { keys: ['port', 'protocol'] } },
    Service: { ...METADATA, ...CONDITIONS, spec: { type: 'ServiceSpec' } },
    ServiceAccount: { ...METADATA, secrets: { keys: ['name'] } },
    NodeSpec: { podCIDRs: { keys: [] } },
    NodeStatus: { addresses: { keys: ['type'] }, conditions: { keys: ['type'] } },
    Node: { ...METADATA, spec: { type: 'NodeSpec' }, status: { type: 'NodeStatus' } },
    ComponentStatus: { ...METADATA, conditions: { keys: ['type'] } },
    Webhooks: { ...METADATA, webhooks: { keys: ['name'] } },
    CSINodeSpec: { drivers: { keys: ['name'] } },
    CSINode: { ...METADATA, spec: { type: 'CSINodeSpec' } },
  }).map(([name, fields]) => [name, { fields: new Map(Object.entries(fields)) }]),
)
