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
  'acid.zalan.do': { namespaced: 'PostgresTeam postgresql', cluster: '' },
  'acme.cert-manager.io': { namespaced: 'Challenge Order', cluster: '' },
  'actions.github.com': {
    namespaced: 'AutoscalingListener AutoscalingRunnerSet EphemeralRunner EphemeralRunnerSet',
    cluster: '',
  },
  'apps.kruise.io': {
    namespaced:
      'AdvancedCronJob BroadcastJob CloneSet ContainerRecreateRequest DaemonSet SidecarSet StatefulSet UnitedDeployment WorkloadSpread',
    cluster: '',
  },
  'argoproj.io': {
    namespaced:
      'AnalysisRun AnalysisTemplate AppProject Application ApplicationSet CronWorkflow EventBus EventSource Experiment Rollout Sensor Workflow WorkflowTemplate',
    cluster: 'ClusterAnalysisTemplate ClusterWorkflowTemplate',
  },
  'autoscaling.k8s.io': { namespaced: 'VerticalPodAutoscaler VerticalPodAutoscalerCheckpoint', cluster: '' },
  'batch.volcano.sh': { namespaced: 'Job', cluster: '' },
  'bitnami.com': { namespaced: 'SealedSecret', cluster: '' },
  'camel.apache.org': {
    namespaced: 'Build CamelCatalog Integration IntegrationKit IntegrationPlatform IntegrationProfile Kamelet Pipe',
    cluster: '',
  },
  'capsule.clastix.io': {
    namespaced: 'ResourcePoolClaim TenantResource',
    cluster: 'CapsuleConfiguration GlobalTenantResource ResourcePool Tenant TenantOwner',
  },
  'cassandra.datastax.com': { namespaced: 'CassandraDatacenter', cluster: '' },
  'cdi.kubevirt.io': { namespaced: 'DataImportCron DataSource DataVolume', cluster: 'CDI CDIConfig StorageProfile' },
  'cert-manager.io': { namespaced: 'Certificate CertificateRequest Issuer', cluster: 'ClusterIssuer' },
  'cilium.io': {
    namespaced: 'CiliumEndpoint CiliumEnvoyConfig CiliumLocalRedirectPolicy CiliumNetworkPolicy',
    cluster: 'CiliumClusterwideEnvoyConfig CiliumClusterwideNetworkPolicy CiliumIdentity CiliumNode',
  },
  'clickhouse.altinity.com': {
    namespaced: 'ClickHouseInstallation ClickHouseInstallationTemplate',
    cluster: '',
  },
  'configuration.konghq.com': {
    namespaced: 'KongConsumer KongConsumerGroup KongIngress KongPlugin KongUpstreamPolicy TCPIngress UDPIngress',
    cluster: 'KongClusterPlugin KongLicense KongVault',
  },
  'crd.projectcalico.org': {
    namespaced: 'NetworkPolicy NetworkSet',
    cluster:
      'BGPConfiguration BGPFilter BGPPeer BlockAffinity ClusterInformation FelixConfiguration GlobalNetworkPolicy GlobalNetworkSet HostEndpoint IPAMBlock IPAMConfig IPAMHandle IPPool IPReservation KubeControllersConfiguration',
  },
  'dapr.io': { namespaced: 'Component Configuration HTTPEndpoint Resiliency Subscription', cluster: '' },
  'databases.spotahome.com': { namespaced: 'RedisFailover', cluster: '' },
  'db.atlasgo.io': { namespaced: 'AtlasMigration AtlasSchema', cluster: '' },
  'dragonflydb.io': { namespaced: 'Dragonfly', cluster: '' },
  'elasticsearch.k8s.elastic.co': { namespaced: 'Elasticsearch', cluster: '' },
  'eventing.knative.dev': { namespaced: 'Broker EventPolicy EventType Trigger', cluster: '' },
  'external-secrets.io': {
    namespaced: 'ExternalSecret PushSecret SecretStore',
    cluster: 'ClusterExternalSecret ClusterPushSecret ClusterSecretStore',
  },
  'externaldns.k8s.io': { namespaced: 'DNSEndpoint', cluster: '' },
  'flagger.app': { namespaced: 'AlertProvider Canary MetricTemplate', cluster: '' },
  'flink.apache.org': {
    namespaced: 'FlinkBlueGreenDeployment FlinkDeployment FlinkSessionJob FlinkStateSnapshot',
    cluster: '',
  },
  'fluxcd.controlplane.io': { namespaced: 'FluxInstance FluxReport ResourceSet ResourceSetInputProvider', cluster: '' },
  'gateway.envoyproxy.io': {
    namespaced:
      'Backend BackendTrafficPolicy ClientTrafficPolicy EnvoyExtensionPolicy EnvoyPatchPolicy EnvoyProxy HTTPRouteFilter SecurityPolicy',
    cluster: '',
  },
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
  'jaegertracing.io': { namespaced: 'Jaeger', cluster: '' },
  'jetstream.nats.io': { namespaced: 'Account Consumer KeyValue ObjectStore Stream', cluster: '' },
  'k6.io': { namespaced: 'PrivateLoadZone TestRun', cluster: '' },
  'k8s.cni.cncf.io': { namespaced: 'NetworkAttachmentDefinition', cluster: '' },
  'k8s.mariadb.com': {
    namespaced: 'Backup Connection Database Grant MariaDB MaxScale Restore SqlJob User',
    cluster: '',
  },
  'kafka.strimzi.io': {
    namespaced:
      'Kafka KafkaBridge KafkaConnect KafkaConnector KafkaMirrorMaker KafkaMirrorMaker2 KafkaNodePool KafkaRebalance KafkaTopic KafkaUser',
    cluster: '',
  },
  'keda.sh': { namespaced: 'ScaledJob ScaledObject TriggerAuthentication', cluster: 'ClusterTriggerAuthentication' },
  'kibana.k8s.elastic.co': { namespaced: 'Kibana', cluster: '' },
  'kubevirt.io': {
    namespaced:
      'VirtualMachine VirtualMachineInstance VirtualMachineInstanceMigration VirtualMachineInstancePreset VirtualMachineInstanceReplicaSet',
    cluster: '',
  },
  'kueue.x-k8s.io': {
    namespaced: 'LocalQueue Workload',
    cluster: 'AdmissionCheck ClusterQueue ResourceFlavor Topology WorkloadPriorityClass',
  },
  'kustomize.toolkit.fluxcd.io': { namespaced: 'Kustomization', cluster: '' },
  'kyverno.io': {
    namespaced: 'CleanupPolicy Policy PolicyException UpdateRequest',
    cluster: 'ClusterCleanupPolicy ClusterPolicy GlobalContextEntry',
  },
  'linkerd.io': { namespaced: 'ServiceProfile', cluster: '' },
  'messaging.knative.dev': { namespaced: 'Channel InMemoryChannel Subscription', cluster: '' },
  'metallb.io': {
    namespaced: 'BFDProfile BGPAdvertisement BGPPeer Community IPAddressPool L2Advertisement',
    cluster: '',
  },
  'minio.min.io': { namespaced: 'Tenant', cluster: '' },
  'mongodbcommunity.mongodb.com': { namespaced: 'MongoDBCommunity', cluster: '' },
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
  'opentelemetry.io': { namespaced: 'Instrumentation OpAMPBridge OpenTelemetryCollector TargetAllocator', cluster: '' },
  'policies.kyverno.io': {
    namespaced: 'PolicyException',
    cluster: 'DeletingPolicy GeneratingPolicy ImageValidatingPolicy MutatingPolicy ValidatingPolicy',
  },
  'policy.linkerd.io': {
    namespaced:
      'AuthorizationPolicy HTTPLocalRateLimitPolicy HTTPRoute MeshTLSAuthentication NetworkAuthentication Server ServerAuthorization',
    cluster: '',
  },
  'postgresql.cnpg.io': {
    namespaced: 'Backup Cluster Database ImageCatalog Pooler Publication ScheduledBackup Subscription',
    cluster: 'ClusterImageCatalog',
  },
  'projectcalico.org': {
    namespaced: 'NetworkPolicy NetworkSet StagedNetworkPolicy',
    cluster:
      'BGPConfiguration BGPFilter BGPPeer FelixConfiguration GlobalNetworkPolicy GlobalNetworkSet HostEndpoint IPPool',
  },
  'projectcontour.io': { namespaced: 'HTTPProxy TLSCertificateDelegation', cluster: '' },
  'psmdb.percona.com': {
    namespaced: 'PerconaServerMongoDB PerconaServerMongoDBBackup PerconaServerMongoDBRestore',
    cluster: '',
  },
  'pxc.percona.com': {
    namespaced: 'PerconaXtraDBCluster PerconaXtraDBClusterBackup PerconaXtraDBClusterRestore',
    cluster: '',
  },
  'rabbitmq.com': {
    namespaced:
      'Binding Exchange Federation Permission Policy Queue RabbitmqCluster SchemaReplication Shovel User Vhost',
    cluster: '',
  },
  'ray.io': { namespaced: 'RayCluster RayJob RayService', cluster: '' },
  'redis.redis.opstreelabs.in': { namespaced: 'Redis RedisCluster RedisReplication RedisSentinel', cluster: '' },
  'secrets-store.csi.x-k8s.io': { namespaced: 'SecretProviderClass SecretProviderClassPodStatus', cluster: '' },
  'secrets.hashicorp.com': {
    namespaced:
      'HCPAuth HCPVaultSecretsApp SecretTransformation VaultAuth VaultAuthGlobal VaultConnection VaultDynamicSecret VaultPKISecret VaultStaticSecret',
    cluster: '',
  },
  'security.istio.io': { namespaced: 'AuthorizationPolicy PeerAuthentication RequestAuthentication', cluster: '' },
  'serving.knative.dev': { namespaced: 'Configuration DomainMapping Revision Route Service', cluster: '' },
  'serving.kserve.io': {
    namespaced: 'InferenceGraph InferenceService ServingRuntime TrainedModel',
    cluster: 'ClusterServingRuntime ClusterStorageContainer',
  },
  'snapshot.storage.k8s.io': { namespaced: 'VolumeSnapshot', cluster: 'VolumeSnapshotClass VolumeSnapshotContent' },
  'source.extensions.fluxcd.io': { namespaced: 'ArtifactGenerator', cluster: '' },
  'source.toolkit.fluxcd.io': {
    namespaced: 'Bucket ExternalArtifact GitRepository HelmChart HelmRepository OCIRepository',
    cluster: '',
  },
  'sources.knative.dev': { namespaced: 'ApiServerSource ContainerSource PingSource SinkBinding', cluster: '' },
  'sparkoperator.k8s.io': { namespaced: 'ScheduledSparkApplication SparkApplication', cluster: '' },
  'tekton.dev': { namespaced: 'CustomRun Pipeline PipelineRun Run StepAction Task TaskRun', cluster: 'ClusterTask' },
  'traefik.io': {
    namespaced:
      'IngressRoute IngressRouteTCP IngressRouteUDP Middleware MiddlewareTCP ServersTransport ServersTransportTCP TLSOption TLSStore TraefikService',
    cluster: '',
  },
  'triggers.tekton.dev': {
    namespaced: 'EventListener Interceptor Trigger TriggerBinding TriggerTemplate',
    cluster: 'ClusterInterceptor ClusterTriggerBinding',
  },
  'volsync.backube': { namespaced: 'ReplicationDestination ReplicationSource', cluster: '' },
}
