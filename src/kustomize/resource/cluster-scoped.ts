/**
 * The kinds that kustomize knows to be cluster-scoped, by apiVersion (its table `precomputedIsNamespaceScoped`, 5.8.1).
 * Every other kind counts as namespaced there, custom resources included.
 */
const CLUSTER_SCOPED: ReadonlyMap<string, readonly string[]> = new Map([
  ['admissionregistration.k8s.io/v1', ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']],
  ['admissionregistration.k8s.io/v1beta1', ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']],
  ['apiextensions.k8s.io/v1', ['CustomResourceDefinition']],
  ['apiextensions.k8s.io/v1beta1', ['CustomResourceDefinition']],
  ['apiregistration.k8s.io/v1', ['APIService']],
  ['apiregistration.k8s.io/v1beta1', ['APIService']],
  ['certificates.k8s.io/v1', ['CertificateSigningRequest']],
  ['certificates.k8s.io/v1beta1', ['CertificateSigningRequest']],
  ['flowcontrol.apiserver.k8s.io/v1beta1', ['FlowSchema', 'PriorityLevelConfiguration']],
  ['networking.k8s.io/v1', ['IngressClass']],
  ['networking.k8s.io/v1beta1', ['IngressClass']],
  ['node.k8s.io/v1', ['RuntimeClass']],
  ['node.k8s.io/v1beta1', ['RuntimeClass']],
  ['policy/v1beta1', ['PodSecurityPolicy']],
  ['rbac.authorization.k8s.io/v1', ['ClusterRole', 'ClusterRoleBinding']],
  ['rbac.authorization.k8s.io/v1beta1', ['ClusterRole', 'ClusterRoleBinding']],
  ['scheduling.k8s.io/v1', ['PriorityClass']],
  ['scheduling.k8s.io/v1beta1', ['PriorityClass']],
  ['storage.k8s.io/v1', ['CSIDriver', 'CSINode', 'StorageClass', 'VolumeAttachment']],
  ['storage.k8s.io/v1beta1', ['CSIDriver', 'CSINode', 'StorageClass', 'VolumeAttachment']],
  ['v1', ['ComponentStatus', 'Namespace', 'Node', 'NodeProxyOptions', 'PersistentVolume']],
])

/** Whether kustomize is certain that objects of this kind have no namespace. */
export function isClusterScoped(apiVersion: string, kind: string): boolean {
  return CLUSTER_SCOPED.get(apiVersion)?.includes(kind) ?? false
}
