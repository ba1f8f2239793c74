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

/** Kinds of well-known projects, for fleets that install the definitions by a chart; the fleet's own definitions win. */
export const PROJECTS: Record<string, { readonly namespaced: string; readonly cluster: string }> = {
  'acme.cert-manager.io': { namespaced: 'Challenge Order', cluster: '' },
  'argoproj.io': {
    namespaced:
      'AnalysisRun AnalysisTemplate AppProject Application ApplicationSet CronWorkflow EventBus EventSource Experiment Rollout Sensor Workflow WorkflowTemplate',
    cluster: 'ClusterAnalysisTemplate ClusterWorkflowTemplate',
  },
  'bitnami.com': { namespaced: 'SealedSecret', cluster: '' },
  'capsule.clastix.io': {
    namespaced: 'ResourcePoolClaim TenantResource',
    cluster: 'CapsuleConfiguration GlobalTenantResource ResourcePool Tenant TenantOwner',
  },
  'cert-manager.io': { namespaced: 'Certificate CertificateRequest Issuer', cluster: 'ClusterIssuer' },
  'cilium.io': {
    namespaced: 'CiliumEndpoint CiliumEnvoyConfig CiliumLocalRedirectPolicy CiliumNetworkPolicy',
    cluster: 'CiliumClusterwideEnvoyConfig CiliumClusterwideNetworkPolicy CiliumIdentity CiliumNode',
  },
  'external-secrets.io': {
    namespaced: 'ExternalSecret PushSecret SecretStore',
    cluster: 'ClusterExternalSecret ClusterPushSecret ClusterSecretStore',
  },
  'flagger.app': { namespaced: 'AlertProvider Canary MetricTemplate', cluster: '' },
  'fluxcd.controlplane.io': { namespaced: 'FluxInstance FluxReport ResourceSet ResourceSetInputProvider', cluster: '' },
  'gateway.networking.k8s.io': {
    namespaced:
      'BackendLBPolicy BackendTLSPolicy GRPCRoute Gateway HTTPRoute ListenerSet ReferenceGrant TCPRoute TLSRoute UDPRoute',
    cluster: 'GatewayClass',
  },
  'generators.external-secrets.io': {
    namespaced:
      'ACRAccessToken ECRAuthorizationToken Fake GCRAccessToken GithubAccessToken Password UUID VaultDynamicSecret Webhook',
    cluster: 'ClusterGenerator',
  },
  'grafana.integreatly.org': {
    namespaced: 'Grafana GrafanaAlertRuleGroup GrafanaContactPoint GrafanaDashboard GrafanaDatasource GrafanaFolder',
    cluster: '',
  },
  'helm.toolkit.fluxcd.io': { namespaced: 'HelmRelease', cluster: '' },
  'image.toolkit.fluxcd.io': { namespaced: 'ImagePolicy ImageRepository ImageUpdateAutomation', cluster: '' },
  'infra.contrib.fluxcd.io': { namespaced: 'Terraform', cluster: '' },
  'k8s.cni.cncf.io': { namespaced: 'NetworkAttachmentDefinition', cluster: '' },
  'keda.sh': { namespaced: 'ScaledJob ScaledObject TriggerAuthentication', cluster: 'ClusterTriggerAuthentication' },
  'kustomize.toolkit.fluxcd.io': { namespaced: 'Kustomization', cluster: '' },
  'kyverno.io': {
    namespaced: 'CleanupPolicy Policy PolicyException UpdateRequest',
    cluster: 'ClusterCleanupPolicy ClusterPolicy GlobalContextEntry',
  },
  'metallb.io': {
    namespaced: 'BFDProfile BGPAdvertisement BGPPeer Community IPAddressPool L2Advertisement',
    cluster: '',
  },
  'monitoring.coreos.com': {
    namespaced:
      'Alertmanager AlertmanagerConfig PodMonitor Probe Prometheus PrometheusAgent PrometheusRule ScrapeConfig ServiceMonitor ThanosRuler',
    cluster: '',
  },
  'networking.istio.io': {
    namespaced:
      'DestinationRule EnvoyFilter Gateway ProxyConfig ServiceEntry Sidecar VirtualService WorkloadEntry WorkloadGroup',
    cluster: '',
  },
  'notification.toolkit.fluxcd.io': { namespaced: 'Alert Provider Receiver', cluster: '' },
  'policies.kyverno.io': {
    namespaced: 'PolicyException',
    cluster: 'DeletingPolicy GeneratingPolicy ImageValidatingPolicy MutatingPolicy ValidatingPolicy',
  },
  'postgresql.cnpg.io': {
    namespaced: 'Backup Cluster Database ImageCatalog Pooler Publication ScheduledBackup Subscription',
    cluster: 'ClusterImageCatalog',
  },
  'projectcontour.io': { namespaced: 'HTTPProxy TLSCertificateDelegation', cluster: '' },
  'security.istio.io': { namespaced: 'AuthorizationPolicy PeerAuthentication RequestAuthentication', cluster: '' },
  'serving.knative.dev': { namespaced: 'Configuration DomainMapping Revision Route Service', cluster: '' },
  'snapshot.storage.k8s.io': { namespaced: 'VolumeSnapshot', cluster: 'VolumeSnapshotClass VolumeSnapshotContent' },
  'source.extensions.fluxcd.io': { namespaced: 'ArtifactGenerator', cluster: '' },
  'source.toolkit.fluxcd.io': {
    namespaced: 'Bucket ExternalArtifact GitRepository HelmChart HelmRepository OCIRepository',
    cluster: '',
  },
  'traefik.io': {
    namespaced:
      'IngressRoute IngressRouteTCP IngressRouteUDP Middleware MiddlewareTCP ServersTransport ServersTransportTCP TLSOption TLSStore TraefikService',
    cluster: '',
  },
}
