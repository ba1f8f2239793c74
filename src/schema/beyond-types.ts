import type { Node } from '../kube/node.ts'

/**
 * What the API server requires in objects and OpenAPI does not say (Validate* functions of k8s.io/kubernetes, pkg/apis/.../validation).
 * A test asks a real API server about each entry.
 */
const NOT_EMPTY: Readonly<Record<string, readonly string[]>> = {
  'core.v1.Pod': ['spec'],
  'core.v1.PodTemplateSpec': ['spec'],
  'core.v1.Service': ['spec'],
  'core.v1.PodSpec': ['containers'],
  'core.v1.Container': ['name', 'image'],
  'core.v1.Volume': ['name'],
  'core.v1.VolumeMount': ['name', 'mountPath'],
  'core.v1.EnvVar': ['name'],
  'core.v1.ContainerPort': ['containerPort'],
  'core.v1.ConfigMapKeySelector': ['name', 'key'],
  'core.v1.SecretKeySelector': ['name', 'key'],
  'core.v1.ConfigMapEnvSource': ['name'],
  'core.v1.SecretEnvSource': ['name'],
  'core.v1.ConfigMapVolumeSource': ['name'],
  'core.v1.SecretVolumeSource': ['secretName'],
  'core.v1.HostPathVolumeSource': ['path'],
  'core.v1.NFSVolumeSource': ['server', 'path'],
  'core.v1.PersistentVolumeClaimVolumeSource': ['claimName'],
  'core.v1.KeyToPath': ['key', 'path'],
  'core.v1.PersistentVolumeClaimSpec': ['accessModes'],
  'core.v1.PersistentVolumeSpec': ['accessModes', 'capacity'],
  'core.v1.TopologySpreadConstraint': ['topologyKey'],
  'core.v1.PodAffinityTerm': ['topologyKey'],
  'networking.v1.IngressServiceBackend': ['name', 'port'],
  'networking.v1.HTTPIngressPath': ['pathType'],
  'autoscaling.v2.CrossVersionObjectReference': ['kind', 'name'],
  'storage.v1.StorageClass': ['provisioner'],
  'rbac.v1.PolicyRule': ['verbs'],
  'apps.v1.Deployment': ['spec'],
  'apps.v1.StatefulSet': ['spec'],
  'apps.v1.DaemonSet': ['spec'],
  'batch.v1.Job': ['spec'],
  'batch.v1.CronJob': ['spec'],
  'batch.v1.CronJobSpec': ['schedule'],
  'core.v1.PersistentVolumeClaim': ['spec'],
  'core.v1.PersistentVolume': ['spec'],
  'core.v1.ExecAction': ['command'],
  'apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec': ['group'],
  'apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames': ['plural', 'kind'],
  'apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceConversion': ['strategy'],
  'core.v1.ReplicationController': ['spec'],
  'core.v1.ReplicationControllerSpec': ['template'],
  'meta.v1.OwnerReference': ['apiVersion', 'kind', 'name', 'uid'],
  'networking.v1.HTTPIngressRuleValue': ['paths'],
  'networking.v1.IngressClassSpec': ['controller'],
  'admissionregistration.v1.RuleWithOperations': ['apiGroups', 'apiVersions', 'operations', 'resources'],
  'admissionregistration.v1.NamedRuleWithOperations': ['apiGroups', 'apiVersions', 'operations', 'resources'],
  'admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec': ['policyName', 'validationActions'],
  'admissionregistration.v1.MutatingAdmissionPolicyBindingSpec': ['policyName'],
  'admissionregistration.v1.ValidatingWebhook': ['admissionReviewVersions'],
  'admissionregistration.v1.MutatingWebhook': ['admissionReviewVersions'],
}

/** Fields that OpenAPI requires and the API server does not (the same functions). */
const NOT_ENFORCED: Readonly<Record<string, readonly string[]>> = {
  'storage.v1.CSIDriver': ['spec'],
  'core.v1.LimitRangeSpec': ['limits'],
  'apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionVersion': ['served', 'storage'],
}

/** Whether the API server does without a field that OpenAPI requires. */
export const isEnforced = (type: string, field: string): boolean => !NOT_ENFORCED[type]?.includes(field)

const NONE: readonly string[] = []

/** Fields of a type that must be there and must not be empty. */
export const filledFields = (type: string): readonly string[] =>
  Object.hasOwn(NOT_EMPTY, type) ? NOT_EMPTY[type]! : NONE

/** Whether a value counts as absent where a value is needed. */
export const isEmpty = (node: Node | undefined): boolean => {
  if (node === undefined) return true
  if (node.type === 'list') return node.items.length === 0
  return node.type === 'scalar' && node.opaque === undefined && (node.value === null || node.value === '')
}
