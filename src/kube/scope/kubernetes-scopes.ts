/** Kinds that Kubernetes itself serves; no CustomResourceDefinition can change their scope. */
export const KUBERNETES: Record<string, { readonly namespaced: string; readonly cluster: string }> = {
  '': {
    namespaced:
      'Binding ConfigMap Endpoints Event LimitRange PersistentVolumeClaim Pod PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount',
    cluster: 'ComponentStatus Namespace Node PersistentVolume',
  },
  'admissionregistration.k8s.io': {
    namespaced: '',
    cluster:
      'MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration',
  },
  'apiextensions.k8s.io': { namespaced: '', cluster: 'CustomResourceDefinition' },
  'apiregistration.k8s.io': { namespaced: '', cluster: 'APIService' },
  apps: { namespaced: 'ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet', cluster: '' },
  'authentication.k8s.io': { namespaced: '', cluster: 'SelfSubjectReview TokenReview' },
  'authorization.k8s.io': {
    namespaced: 'LocalSubjectAccessReview',
    cluster: 'SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview',
  },
  autoscaling: { namespaced: 'HorizontalPodAutoscaler', cluster: '' },
  batch: { namespaced: 'CronJob Job', cluster: '' },
  'certificates.k8s.io': {
    namespaced: 'PodCertificateRequest',
    cluster: 'CertificateSigningRequest ClusterTrustBundle',
  },
  'coordination.k8s.io': { namespaced: 'Lease LeaseCandidate', cluster: '' },
  'discovery.k8s.io': { namespaced: 'EndpointSlice', cluster: '' },
  'events.k8s.io': { namespaced: 'Event', cluster: '' },
  'flowcontrol.apiserver.k8s.io': { namespaced: '', cluster: 'FlowSchema PriorityLevelConfiguration' },
  'internal.apiserver.k8s.io': { namespaced: '', cluster: 'StorageVersion' },
  'networking.k8s.io': { namespaced: 'Ingress NetworkPolicy', cluster: 'IPAddress IngressClass ServiceCIDR' },
  'node.k8s.io': { namespaced: '', cluster: 'RuntimeClass' },
  policy: { namespaced: 'Eviction PodDisruptionBudget', cluster: 'PodSecurityPolicy' },
  'rbac.authorization.k8s.io': { namespaced: 'Role RoleBinding', cluster: 'ClusterRole ClusterRoleBinding' },
  'resource.k8s.io': {
    namespaced: 'ResourceClaim ResourceClaimTemplate',
    cluster: 'DeviceClass DeviceTaintRule ResourcePoolStatusRequest ResourceSlice',
  },
  'scheduling.k8s.io': { namespaced: 'Workload', cluster: 'PriorityClass' },
  'storage.k8s.io': {
    namespaced: 'CSIStorageCapacity',
    cluster: 'CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass',
  },
  'storagemigration.k8s.io': { namespaced: '', cluster: 'StorageVersionMigration' },
}
