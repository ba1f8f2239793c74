/**
 * API versions that Kubernetes stopped serving before the oldest version of the table, with the last minor version that
 * served them (https://kubernetes.io/docs/reference/using-api/deprecation-guide/).
 */
const REMOVED: readonly (readonly [apiVersion: string, kinds: string, last: number])[] = [
  ['extensions/v1beta1', 'Deployment DaemonSet ReplicaSet NetworkPolicy PodSecurityPolicy', 15],
  ['apps/v1beta1', 'Deployment StatefulSet', 15],
  ['apps/v1beta2', 'Deployment DaemonSet ReplicaSet StatefulSet', 15],
  ['extensions/v1beta1', 'Ingress', 21],
  ['networking.k8s.io/v1beta1', 'Ingress IngressClass', 21],
  ['admissionregistration.k8s.io/v1beta1', 'MutatingWebhookConfiguration ValidatingWebhookConfiguration', 21],
  ['apiextensions.k8s.io/v1beta1', 'CustomResourceDefinition', 21],
  ['apiregistration.k8s.io/v1beta1', 'APIService', 21],
  ['certificates.k8s.io/v1beta1', 'CertificateSigningRequest', 21],
  ['coordination.k8s.io/v1beta1', 'Lease', 21],
  ['rbac.authorization.k8s.io/v1beta1', 'ClusterRole ClusterRoleBinding Role RoleBinding', 21],
  ['rbac.authorization.k8s.io/v1alpha1', 'ClusterRole ClusterRoleBinding Role RoleBinding', 21],
  ['scheduling.k8s.io/v1beta1', 'PriorityClass', 21],
  ['storage.k8s.io/v1beta1', 'CSIDriver CSINode StorageClass VolumeAttachment', 21],
  ['batch/v1beta1', 'CronJob', 24],
  ['discovery.k8s.io/v1beta1', 'EndpointSlice', 24],
  ['events.k8s.io/v1beta1', 'Event', 24],
  ['autoscaling/v2beta1', 'HorizontalPodAutoscaler', 24],
  ['policy/v1beta1', 'PodDisruptionBudget PodSecurityPolicy', 24],
  ['node.k8s.io/v1beta1', 'RuntimeClass', 24],
  ['flowcontrol.apiserver.k8s.io/v1beta1', 'FlowSchema PriorityLevelConfiguration', 25],
  ['autoscaling/v2beta2', 'HorizontalPodAutoscaler', 25],
  ['storage.k8s.io/v1beta1', 'CSIStorageCapacity', 26],
  ['flowcontrol.apiserver.k8s.io/v1beta2', 'FlowSchema PriorityLevelConfiguration', 28],
]

/** The last minor version that served a kind which none in the table serves; undefined where nothing is known of it. */
export function lastServed(apiVersion: string, kind: string): number | undefined {
  return REMOVED.find(([version, kinds]) => version === apiVersion && kinds.split(' ').includes(kind))?.[2]
}
