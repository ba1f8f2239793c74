import { MERGE_TYPES, type MergeField } from './merge-types.ts'

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
