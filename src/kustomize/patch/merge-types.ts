/** How a list merges under a strategic merge patch: by these keys of its elements; no keys for a list of plain values. */
export interface MergeField {
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
export const MERGE_TYPES: ReadonlyMap<string, MergeType> = new Map(
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
