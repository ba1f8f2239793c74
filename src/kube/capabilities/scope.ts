import { FLUX_KINDS } from '../flux-kinds.ts'
import { stringAt } from '../node.ts'
import { groupOf, idOf, type KubeObject } from '../object.ts'
import type { Scope } from './capability.ts'
import { CAPABILITY_SCOPES } from './index.ts'

/** Scopes of custom kinds by `<group>/<Kind>`. */
export type CustomScopes = ReadonlyMap<string, Scope>

/** The scopes that CustomResourceDefinitions among `objects` declare. A scope that is neither value is left out. */
export function customScopes(objects: Iterable<KubeObject>): CustomScopes {
  const scopes = new Map<string, Scope>()
  for (const object of objects) {
    const { apiVersion, kind } = idOf(object)
    if (kind !== 'CustomResourceDefinition' || groupOf(apiVersion) !== 'apiextensions.k8s.io') continue
    const scope = stringAt(object.root, ['spec', 'scope'])
    if (scope !== 'Namespaced' && scope !== 'Cluster') continue
    scopes.set(`${stringAt(object.root, ['spec', 'group'])}/${stringAt(object.root, ['spec', 'names', 'kind'])}`, scope)
  }
  return scopes
}

/**
 * Whether objects of a kind live in namespaces; undefined: unknown. Kinds of Kubernetes itself first (no
 * definition can redefine them), then the fleet's own definitions, then well-known projects. The kind is compared exactly.
 */
export function scopeOf(apiVersion: string, kind: string, custom: CustomScopes): Scope | undefined {
  const key = `${groupOf(apiVersion)}/${kind}`
  return KUBERNETES_SCOPES.get(key) ?? custom.get(key) ?? PROJECT_SCOPES.get(key)
}

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
  // new in 1.37 and off by default; their scope is not known
  'lifecycle.k8s.io': { namespaced: '', cluster: '' },
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

/** Kinds of Kubernetes itself by `<group>/<Kind>`. */
export const KUBERNETES_SCOPES = flatten(KUBERNETES)

/**
 * Kinds of well-known projects, for fleets that install the definitions by a chart; the fleet's own definitions win. Each line:
 * a group, its kinds that live in namespaces, and behind `|` those that belong to the whole cluster, as the projects' own
 * CustomResourceDefinitions say.
 */
const PROJECTS = `
access.strimzi.io: KafkaAccess
acid.zalan.do: OperatorConfiguration PostgresTeam postgresql
acme.cert-manager.io: Challenge Order
actions.github.com: AutoscalingListener AutoscalingRunnerSet EphemeralRunner EphemeralRunnerSet
actions.summerwind.dev: HorizontalRunnerAutoscaler Runner RunnerDeployment RunnerReplicaSet RunnerSet
addons.cluster.x-k8s.io: ClusterResourceSet ClusterResourceSetBinding
agent.k8s.elastic.co: Agent
apiextensions.crossplane.io: | CompositeResourceDefinition Composition CompositionRevision EnvironmentConfig ManagedResourceActivationPolicy ManagedResourceDefinition Usage
apm.k8s.elastic.co: ApmServer
appprotect.f5.com: APLogConf APPolicy APUserSig
appprotectdos.f5.com: APDosLogConf APDosPolicy DosProtectedResource
apps.kruise.io: AdvancedCronJob BroadcastJob CloneSet ContainerRecreateRequest DaemonSet EphemeralJob ImageListPullJob ImagePullJob PersistentPodState PodProbeMarker StatefulSet UnitedDeployment WorkloadSpread | NodeImage NodePodProbe ResourceDistribution SidecarSet
argoproj.io: AnalysisRun AnalysisTemplate AppProject Application ApplicationSet CronWorkflow EventBus EventSource Experiment Rollout Sensor Workflow WorkflowArtifactGCTask WorkflowEventBinding WorkflowTaskResult WorkflowTaskSet WorkflowTemplate | ClusterAnalysisTemplate ClusterWorkflowTemplate
autoops.k8s.elastic.co: AutoOpsAgentPolicy
autoscaling.k8s.elastic.co: ElasticsearchAutoscaler
autoscaling.k8s.io: VerticalPodAutoscaler VerticalPodAutoscalerCheckpoint
autoscaling.x-k8s.io: CapacityBuffer ProvisioningRequest | CapacityQuota
balancer.x-k8s.io: Balancer
batch.volcano.sh: Job
beat.k8s.elastic.co: Beat
bitnami.com: SealedSecret
bootstrap.cluster.x-k8s.io: KubeadmConfig KubeadmConfigTemplate
camel.apache.org: Build CamelCatalog Integration IntegrationKit IntegrationPlatform IntegrationProfile Kamelet Pipe
capsule.clastix.io: CustomQuota ProxySetting QuantityLedger ResourcePoolClaim RuleStatus TenantResource | CapsuleConfiguration GlobalCustomQuota GlobalProxySettings GlobalResourceQuota GlobalTenantResource ResourcePool Tenant TenantOwner
cassandra.datastax.com: CassandraDatacenter
cdi.kubevirt.io: DataImportCron DataSource DataVolume VolumeCloneSource VolumeImportSource VolumeUploadSource | CDI CDIConfig ObjectTransfer StorageProfile
ceph.rook.io: CephBlockPool CephBlockPoolRadosNamespace CephBucketNotification CephBucketTopic CephCOSIDriver CephClient CephCluster CephFilesystem CephFilesystemMirror CephFilesystemSubVolumeGroup CephNFS CephNVMeOFGateway CephObjectRealm CephObjectStore CephObjectStoreAccount CephObjectStoreUser CephObjectZone CephObjectZoneGroup CephRBDMirror
cert-manager.io: Certificate CertificateRequest Issuer | ClusterIssuer
cilium.io: CiliumEndpoint CiliumEnvoyConfig CiliumGatewayClassConfig CiliumLocalRedirectPolicy CiliumNetworkPolicy CiliumNodeConfig | CiliumBGPAdvertisement CiliumBGPClusterConfig CiliumBGPNodeConfig CiliumBGPNodeConfigOverride CiliumBGPPeerConfig CiliumBGPPeeringPolicy CiliumCIDRGroup CiliumClusterwideEnvoyConfig CiliumClusterwideNetworkPolicy CiliumEgressGatewayPolicy CiliumEndpointSlice CiliumExternalWorkload CiliumIdentity CiliumL2AnnouncementPolicy CiliumLoadBalancerIPPool CiliumNode CiliumPodIPPool
clickhouse.altinity.com: ClickHouseInstallation ClickHouseInstallationTemplate
cluster.x-k8s.io: Cluster ClusterClass Machine MachineDeployment MachineDrainRule MachineHealthCheck MachinePool MachineSet
config.gatekeeper.sh: Config
configuration.konghq.com: IngressClassParameters KongConsumer KongConsumerGroup KongCustomEntity KongIngress KongPlugin KongUpstreamPolicy TCPIngress UDPIngress | KongClusterPlugin KongLicense KongVault
connection.gatekeeper.sh: Connection
controlplane.cluster.x-k8s.io: KubeadmControlPlane KubeadmControlPlaneTemplate
crd.projectcalico.org: NetworkPolicy NetworkSet StagedKubernetesNetworkPolicy StagedNetworkPolicy | BGPConfiguration BGPFilter BGPPeer BlockAffinity CalicoNodeStatus ClusterInformation FelixConfiguration GlobalNetworkPolicy GlobalNetworkSet HostEndpoint IPAMBlock IPAMConfig IPAMHandle IPPool IPReservation KubeControllersConfiguration StagedGlobalNetworkPolicy Tier
csi.ceph.io: CephConnection ClientProfile ClientProfileMapping Driver OperatorConfig
dapr.io: Component Configuration HTTPEndpoint Resiliency Subscription
databases.spotahome.com: RedisFailover
db.atlasgo.io: AtlasMigration AtlasSchema
dragonflydb.io: Dragonfly
elasticsearch.k8s.elastic.co: Elasticsearch
enterprisesearch.k8s.elastic.co: EnterpriseSearch
eventing.keda.sh: CloudEventSource | ClusterCloudEventSource
eventing.knative.dev: Broker EventPolicy EventTransform EventType RequestReply Trigger
expansion.gatekeeper.sh: | ExpansionTemplate
extensions.istio.io: TrafficExtension WasmPlugin
external-secrets.io: ExternalSecret PushSecret SecretStore | ClusterExternalSecret ClusterPushSecret ClusterSecretStore
externaldata.gatekeeper.sh: | Provider
externaldns.k8s.io: DNSEndpoint DNSRecord
externaldns.nginx.org: DNSEndpoint
flagger.app: AlertProvider Canary MetricTemplate
flink.apache.org: FlinkBlueGreenDeployment FlinkDeployment FlinkSessionJob FlinkStateSnapshot
flows.knative.dev: Parallel Sequence
forklift.cdi.kubevirt.io: OpenstackVolumePopulator OvirtVolumePopulator
frrk8s.metallb.io: BGPSessionState FRRConfiguration FRRK8sConfiguration | FRRNodeState
gateway.envoyproxy.io: Backend BackendTrafficPolicy ClientTrafficPolicy EnvoyExtensionPolicy EnvoyPatchPolicy EnvoyProxy HTTPRouteFilter SecurityPolicy
gateway.networking.k8s.io: BackendLBPolicy BackendTLSPolicy GRPCRoute Gateway HTTPRoute ListenerSet ReferenceGrant TCPRoute TLSRoute UDPRoute | GatewayClass
gateway.networking.x-k8s.io: XBackend XBackendTrafficPolicy XListenerSet | XMesh
generators.external-secrets.io: ACRAccessToken BeyondtrustWorkloadCredentialsDynamicSecret CloudsmithAccessToken ECRAuthorizationToken Fake GCRAccessToken GeneratorState GithubAccessToken GitlabDeployToken Grafana MFA Password QuayAccessToken SSHKey STSSessionToken UUID VaultDynamicSecret Webhook | ClusterGenerator
grafana.integreatly.org: Grafana GrafanaAlertRuleGroup GrafanaContactPoint GrafanaDashboard GrafanaDatasource GrafanaFolder GrafanaLibraryPanel GrafanaManifest GrafanaMuteTiming GrafanaNotificationPolicy GrafanaNotificationPolicyRoute GrafanaNotificationTemplate GrafanaServiceAccount
groupsnapshot.storage.k8s.io: VolumeGroupSnapshot | VolumeGroupSnapshotClass VolumeGroupSnapshotContent
hub.traefik.io: AIService API APIAuth APIBundle APICatalogItem APIPlan APIPortal APIPortalAuth APIRateLimit APIVersion ContentItem ManagedApplication ManagedSubscription Uplink | AccessControlPolicy
inference.networking.k8s.io: InferencePool
inference.networking.x-k8s.io: InferenceModel InferenceModelRewrite InferenceObjective InferencePool InferencePoolImport
infrastructure.cluster.x-k8s.io: DevCluster DevClusterTemplate DevMachine DevMachinePool DevMachinePoolTemplate DevMachineTemplate
ipam.cluster.x-k8s.io: IPAddress IPAddressClaim
jaegertracing.io: Jaeger
jetstream.nats.io: Account Consumer KeyValue ObjectStore Stream
k6.io: PrivateLoadZone TestRun
k8s.cni.cncf.io: NetworkAttachmentDefinition
k8s.mariadb.com: Backup Connection Database ExternalMariaDB Grant MariaDB MaxScale PhysicalBackup PointInTimeRecovery Restore SqlJob User
k8s.nginx.org: GlobalConfiguration Policy TransportServer VirtualServer VirtualServerRoute
kafka.strimzi.io: Kafka KafkaBridge KafkaConnect KafkaConnector KafkaMirrorMaker KafkaMirrorMaker2 KafkaNodePool KafkaRebalance KafkaTopic KafkaUser
karpenter.k8s.aws: | EC2NodeClass
karpenter.sh: | NodeClaim NodeOverlay NodePool
keda.sh: ScaledJob ScaledObject TriggerAuthentication | ClusterTriggerAuthentication
kibana.k8s.elastic.co: Kibana
kubernetes.crossplane.io: | Object ObservedObjectCollection ProviderConfig ProviderConfigUsage
kubernetes.m.crossplane.io: Object ObservedObjectCollection ProviderConfig ProviderConfigUsage | ClusterProviderConfig
kubevirt.io: KubeVirt VirtualMachine VirtualMachineInstance VirtualMachineInstanceMigration VirtualMachineInstancePreset VirtualMachineInstanceReplicaSet
kueue.x-k8s.io: LocalQueue Workload | AdmissionCheck ClusterQueue Cohort MultiKueueCluster MultiKueueConfig ProvisioningRequestConfig ResourceFlavor Topology WorkloadPriorityClass
kyverno.io: CleanupPolicy Policy PolicyException UpdateRequest | ClusterCleanupPolicy ClusterPolicy GlobalContextEntry
leaderworkerset.x-k8s.io: LeaderWorkerSet
linkerd.io: ServiceProfile
llm-d.ai: InferenceModelRewrite InferenceObjective
logstash.k8s.elastic.co: Logstash
longhorn.io: BackingImage BackingImageDataSource BackingImageManager Backup BackupBackingImage BackupTarget BackupVolume Engine EngineFrontend EngineImage InstanceManager Node Orphan RecurringJob Replica Setting Shard ShardGroup ShareManager Snapshot SupportBundle SystemBackup SystemRestore Volume VolumeAttachment
maps.k8s.elastic.co: ElasticMapsServer
messaging.knative.dev: Channel InMemoryChannel Subscription
metallb.io: BFDProfile BGPAdvertisement BGPPeer Community ConfigurationState IPAddressPool L2Advertisement ServiceBGPStatus ServiceL2Status
minio.min.io: Tenant
mongodbcommunity.mongodb.com: MongoDBCommunity
monitoring.coreos.com: Alertmanager AlertmanagerConfig PodMonitor Probe Prometheus PrometheusAgent PrometheusRule ScrapeConfig ServiceMonitor ThanosRuler
multicluster.linkerd.io: Link
multicluster.x-k8s.io: ServiceImport
mutations.gatekeeper.sh: | Assign AssignImage AssignMetadata ModifySet
networking.istio.io: DestinationRule EnvoyFilter Gateway ProxyConfig ServiceEntry Sidecar VirtualService WorkloadEntry WorkloadGroup
objectbucket.io: ObjectBucketClaim | ObjectBucket
opentelemetry.io: ClusterObservability Instrumentation OpAMPBridge OpenTelemetryCollector TargetAllocator
operator.tigera.io: | APIServer GatewayAPI Goldmane ImageSet Installation Istio ManagementClusterConnection TigeraStatus Whisker
operator.victoriametrics.com: VLAgent VLCluster VLDistributed VLSingle VLogs VMAgent VMAlert VMAlertmanager VMAlertmanagerConfig VMAnomaly VMAnomalyConfig VMAuth VMCluster VMDistributed VMNodeScrape VMPodScrape VMProbe VMRule VMScrapeConfig VMServiceScrape VMSingle VMStaticScrape VMUser VTCluster VTSingle
ops.crossplane.io: | CronOperation Operation WatchOperation
packageregistry.k8s.elastic.co: PackageRegistry
pkg.crossplane.io: | Configuration ConfigurationRevision DeploymentRuntimeConfig Function FunctionRevision ImageConfig Lock Provider ProviderRevision
policies.kyverno.io: NamespacedDeletingPolicy NamespacedGeneratingPolicy NamespacedImageValidatingPolicy NamespacedMutatingPolicy NamespacedValidatingPolicy PolicyException | DeletingPolicy GeneratingPolicy ImageValidatingPolicy MutatingPolicy ValidatingPolicy
policy.kruise.io: PodUnavailableBudget
policy.linkerd.io: AuthorizationPolicy EgressNetwork HTTPLocalRateLimitPolicy HTTPRoute MeshTLSAuthentication NetworkAuthentication Server ServerAuthorization
policy.networking.k8s.io: | ClusterNetworkPolicy
populator.storage.k8s.io: | VolumePopulator
postgresql.cnpg.io: Backup Cluster Database DatabaseRole FailoverQuorum ImageCatalog Pooler Publication ScheduledBackup Subscription | ClusterImageCatalog
projectcalico.org: NetworkPolicy NetworkSet StagedKubernetesNetworkPolicy StagedNetworkPolicy | BGPConfiguration BGPFilter BGPPeer BlockAffinity CalicoNodeStatus ClusterInformation FelixConfiguration GlobalNetworkPolicy GlobalNetworkSet HostEndpoint IPAMBlock IPAMConfiguration IPAMHandle IPPool IPReservation KubeControllersConfiguration StagedGlobalNetworkPolicy Tier
projectcontour.io: ContourConfiguration ContourDeployment ExtensionService HTTPProxy TLSCertificateDelegation
protection.crossplane.io: Usage | ClusterUsage
psmdb.percona.com: PerconaServerMongoDB PerconaServerMongoDBBackup PerconaServerMongoDBRestore
pxc.percona.com: PerconaXtraDBCluster PerconaXtraDBClusterBackup PerconaXtraDBClusterRestore
rabbitmq.com: Binding Exchange Federation Permission Policy Queue RabbitmqCluster SchemaReplication Shovel User Vhost
ray.io: RayCluster RayJob RayService
redis.redis.opstreelabs.in: Redis RedisCluster RedisReplication RedisSentinel
reports.kyverno.io: EphemeralReport | ClusterEphemeralReport
resolution.tekton.dev: ResolutionRequest
rollouts.kruise.io: BatchRelease Rollout RolloutHistory TrafficRouting
route.openshift.io: Route
runtime.cluster.x-k8s.io: | ExtensionConfig
secrets-store.csi.x-k8s.io: SecretProviderClass SecretProviderClassPodStatus
secrets.hashicorp.com: CSISecrets HCPAuth HCPVaultSecretsApp SecretTransformation VaultAuth VaultAuthGlobal VaultConnection VaultDynamicSecret VaultPKISecret VaultStaticSecret
security.istio.io: AuthorizationPolicy PeerAuthentication RequestAuthentication
security.openshift.io: | SecurityContextConstraints
serving.knative.dev: Configuration DomainMapping Revision Route Service
serving.kserve.io: InferenceGraph InferenceService LLMInferenceService LLMInferenceServiceConfig LocalModelNamespaceCache ServingRuntime TrainedModel | ClusterLocalModel ClusterServingRuntime ClusterStorageContainer LocalModelCache LocalModelNode LocalModelNodeGroup
sinks.knative.dev: IntegrationSink JobSink
snapshot.storage.k8s.io: VolumeSnapshot | VolumeSnapshotClass VolumeSnapshotContent
sources.knative.dev: ApiServerSource ContainerSource IntegrationSource PingSource SinkBinding
sparkoperator.k8s.io: ScheduledSparkApplication SparkApplication
spire.spiffe.io: | ClusterFederatedTrustDomain ClusterSPIFFEID

stackconfigpolicy.k8s.elastic.co: StackConfigPolicy
status.gatekeeper.sh: ConfigPodStatus ConnectionPodStatus ConstraintPodStatus ConstraintTemplatePodStatus ExpansionTemplatePodStatus MutatorPodStatus ProviderPodStatus
sts.min.io: PolicyBinding
syncset.gatekeeper.sh: | SyncSet
tekton.dev: CustomRun Pipeline PipelineRun Run StepAction Task TaskRun VerificationPolicy | ClusterTask
telemetry.istio.io: Telemetry
template.kubevirt.io: VirtualMachineTemplate VirtualMachineTemplateRequest
templates.gatekeeper.sh: | ConstraintTemplate
traefik.containo.us: IngressRoute IngressRouteTCP IngressRouteUDP Middleware MiddlewareTCP ServersTransport TLSOption TLSStore TraefikService
traefik.io: IngressRoute IngressRouteTCP IngressRouteUDP Middleware MiddlewareTCP ServersTransport ServersTransportTCP TLSOption TLSStore TraefikService
triggers.tekton.dev: EventListener Interceptor Trigger TriggerBinding TriggerTemplate | ClusterInterceptor ClusterTriggerBinding
trust.cert-manager.io: | Bundle
vault.banzaicloud.com: Vault
velero.io: Backup BackupRepository BackupStorageLocation DataDownload DataUpload DeleteBackupRequest DownloadRequest PodVolumeBackup PodVolumeRestore Restore Schedule ServerStatusRequest VolumeSnapshotLocation
volsync.backube: ReplicationDestination ReplicationSource
wgpolicyk8s.io: PolicyReport | ClusterPolicyReport
workload.linkerd.io: ExternalWorkload
`

/** Kinds of well-known projects by `<group>/<Kind>`. */
export const PROJECT_SCOPES: CustomScopes = new Map<string, Scope>([
  ...readLines(PROJECTS),
  ...FLUX_KINDS.map((row): [string, Scope] => [`${row.group}/${row.kind}`, 'Namespaced']),
  // of kinds of Kubernetes, and of groups that it does not serve any more, Kubernetes itself says what they are
  ...[...CAPABILITY_SCOPES].filter(([kind]) => !isKubernetesKind(kind) && !kind.startsWith('extensions/')),
])

/** Whether a kind (`<group>/<Kind>`) is in a group that Kubernetes itself serves. */
export function isKubernetesKind(kind: string): boolean {
  return Object.hasOwn(KUBERNETES, kind.slice(0, kind.indexOf('/')))
}

function flatten(table: typeof KUBERNETES): CustomScopes {
  const scopes = new Map<string, Scope>()
  for (const [group, { namespaced, cluster }] of Object.entries(table)) {
    for (const kind of namespaced.split(' ').filter(Boolean)) scopes.set(`${group}/${kind}`, 'Namespaced')
    for (const kind of cluster.split(' ').filter(Boolean)) scopes.set(`${group}/${kind}`, 'Cluster')
  }
  return scopes
}

function readLines(text: string): CustomScopes {
  const scopes = new Map<string, Scope>()
  for (const line of text.trim().split('\n')) {
    const [group = '', kinds = ''] = line.split(': ')
    const [namespaced = '', cluster = ''] = kinds.split('|')
    for (const kind of namespaced.split(' ').filter(Boolean)) scopes.set(`${group}/${kind}`, 'Namespaced')
    for (const kind of cluster.split(' ').filter(Boolean)) scopes.set(`${group}/${kind}`, 'Cluster')
  }
  return scopes
}

/** Whether a kind that is unknown in its group is one that Kubernetes has for the whole cluster in another of its groups. */
export function isMisplacedClusterKind(apiVersion: string, kind: string): boolean {
  const group = groupOf(apiVersion)
  return Object.hasOwn(KUBERNETES, group) && !KUBERNETES_SCOPES.has(`${group}/${kind}`) && CLUSTER_KINDS.has(kind)
}

const CLUSTER_KINDS = new Set(Object.values(KUBERNETES).flatMap(({ cluster }) => cluster.split(' ').filter(Boolean)))

/** Groups that no Kubernetes since 1.22 serves any more; their kinds live in others. */
const RETIRED = new Set(['extensions'])

const NEAR = new Map([...KUBERNETES_SCOPES.keys(), ...PROJECT_SCOPES.keys()].map(key => [key.toLowerCase(), key]))

/** The kind as it is written where an object's kind or group differs from a known one only in case; '' for a retired group. */
export function misspelled(apiVersion: string, kind: string): string | undefined {
  const key = `${groupOf(apiVersion)}/${kind}`
  if (RETIRED.has(groupOf(apiVersion).toLowerCase())) return ''
  const known = NEAR.get(key.toLowerCase())
  return known === key ? undefined : known
}
