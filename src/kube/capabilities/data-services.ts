import { type Capabilities, type Capability, type NamingField, withoutFields } from './capability.ts'

const SIGNS_IN =
  'names no account, so the controller signs in with its own. It reads everything that this account can read'
const ambient = (at: string, ...unless: readonly string[]): NamingField => ({
  at,
  names: 'ambient',
  unless,
  says: SIGNS_IN,
})
const of = (...fields: readonly NamingField[]): Capability => ({ scope: 'Namespaced', fields })
/** The ways of a SecretStore to sign in (apis/externalsecrets/v1), below `spec.provider`. */
const providers = (at: string): readonly NamingField[] => [
  ambient(`${at}.aws`, 'auth.secretRef', 'auth.jwt'),
  ambient(
    `${at}.gcpsm`,
    'auth.secretRef',
    'auth.workloadIdentity.serviceAccountRef',
    'auth.workloadIdentityFederation',
  ),
  ambient(`${at}.azurekv`, 'authSecretRef', 'serviceAccountRef'),
  ambient(`${at}.vault`, 'auth'),
  ambient(`${at}.vault.auth.kubernetes`, 'serviceAccountRef', 'secretRef'),
  ambient(`${at}.vault.auth.iam`, 'secretRef', 'jwt'),
  ambient(`${at}.vault.auth.gcp`, 'secretRef', 'workloadIdentity.serviceAccountRef', 'serviceAccountRef'),
  ambient(`${at}.vault.auth.jwt`, 'secretRef', 'kubernetesServiceAccountToken'),
  ambient(`${at}.oracle`, 'auth', 'serviceAccountRef'),
  ambient(`${at}.ibm.auth.containerAuth`),
  ambient(`${at}.akeyless.authSecretRef.kubernetesAuth`, 'serviceAccountRef', 'secretRef'),
  ambient(`${at}.alibaba.auth.rrsa`),
  ambient(`${at}.conjur.auth.jwt`, 'secretRef', 'serviceAccountRef'),
  ambient(`${at}.kubernetes`, 'auth', 'authRef'),
  { at: `${at}.kubernetes.remoteNamespace`, names: 'namespace' },
  { at: `${at}.webhook.url`, names: 'service', form: 'url' },
]

const clusterGenerator: NamingField = {
  at: 'spec.**.generatorRef.kind',
  names: 'ambient',
  level: 'warning',
  where: { '': 'ClusterGenerator' },
  says: "takes credentials that a generator of the whole cluster makes with the platform's account",
}

/** External Secrets (config/crds/bases), Vault Secrets Operator (chart/crds) and cert-manager (deploy/crds). */
export const secrets: Capabilities = {
  'external-secrets.io/ExternalSecret': of(clusterGenerator),
  'external-secrets.io/PushSecret': of(clusterGenerator),
  'external-secrets.io/SecretStore': of(...providers('spec.provider')),
  'generators.external-secrets.io/ECRAuthorizationToken': of(ambient('spec', 'auth.secretRef', 'auth.jwt')),
  'generators.external-secrets.io/STSSessionToken': of(ambient('spec', 'auth.secretRef', 'auth.jwt')),
  'generators.external-secrets.io/GCRAccessToken': of(
    ambient('spec', 'auth.secretRef', 'auth.workloadIdentity.serviceAccountRef', 'auth.workloadIdentityFederation'),
  ),
  'generators.external-secrets.io/ACRAccessToken': of(
    ambient('spec', 'auth.servicePrincipal', 'auth.workloadIdentity.serviceAccountRef'),
  ),
  'generators.external-secrets.io/VaultDynamicSecret': of(
    ambient('spec.provider', 'auth'),
    ambient('spec.provider.auth.kubernetes', 'serviceAccountRef', 'secretRef'),
    ambient('spec.provider.auth.iam', 'secretRef', 'jwt'),
  ),
  'generators.external-secrets.io/Webhook': of({ at: 'spec.url', names: 'service', form: 'url' }),
  'secrets.hashicorp.com/VaultAuth': of(
    { at: 'spec.vaultConnectionRef', names: 'object', form: 'path', shared: true },
    { at: 'spec.vaultAuthGlobalRef.namespace', names: 'object', form: 'sibling', shared: true },
  ),
  'secrets.hashicorp.com/VaultStaticSecret': of({
    at: 'spec.vaultAuthRef',
    names: 'object',
    form: 'path',
    shared: true,
  }),
  'secrets.hashicorp.com/VaultDynamicSecret': of({
    at: 'spec.vaultAuthRef',
    names: 'object',
    form: 'path',
    shared: true,
  }),
  'secrets.hashicorp.com/VaultPKISecret': of({
    at: 'spec.vaultAuthRef',
    names: 'object',
    form: 'path',
    shared: true,
  }),
  'secrets.hashicorp.com/HCPVaultSecretsApp': of({
    at: 'spec.hcpAuthRef',
    names: 'object',
    form: 'path',
    shared: true,
  }),
  'secrets.hashicorp.com/VaultConnection': of({
    at: 'spec.address',
    names: 'service',
    form: 'url',
    shared: true,
  }),
  'cert-manager.io/Issuer': of(
    { at: 'spec.vault.server', names: 'service', form: 'url', shared: true },
    { at: 'spec.acme.**.parentRefs.*.namespace', names: 'service', form: 'sibling', shared: true },
  ),
  ...withoutFields(
    [
      'bitnami.com/SealedSecret',
      'generators.external-secrets.io/Fake generators.external-secrets.io/Password generators.external-secrets.io/UUID generators.external-secrets.io/SSHKey generators.external-secrets.io/GithubAccessToken',
      'secrets.hashicorp.com/HCPAuth secrets.hashicorp.com/SecretTransformation secrets.hashicorp.com/VaultAuthGlobal',
      'cert-manager.io/Certificate cert-manager.io/CertificateRequest acme.cert-manager.io/Challenge acme.cert-manager.io/Order',
    ].join(' '),
  ),
}

/** Operators that hand out the credentials of what is referred to. */
const referring: Capability = {
  scope: 'Namespaced',
  fields: [{ at: 'spec.**.namespace', names: 'object', form: 'sibling' }],
}

const kinds = (group: string, names: string): Capabilities =>
  Object.fromEntries(names.split(' ').map(name => [`${group}/${name}`, referring]))

/** Databases and queues: CloudNativePG, Zalando, Strimzi, MinIO, MariaDB, RabbitMQ and Elastic. */
export const databases: Capabilities = {
  'acid.zalan.do/postgresql': {
    scope: 'Namespaced',
    fields: [
      { at: 'spec.users', names: 'secret', form: 'keys', access: 'write' },
      { at: 'spec.preparedDatabases.*.secretNamespace', names: 'namespace' },
    ],
  },
  'access.strimzi.io/KafkaAccess': referring,
  'sts.min.io/PolicyBinding': referring,
  ...kinds('k8s.mariadb.com', 'Backup Connection Database Grant MariaDB MaxScale PhysicalBackup Restore SqlJob User'),
  ...kinds('rabbitmq.com', 'Binding Exchange Federation Permission Policy Queue SchemaReplication Shovel User Vhost'),
  ...kinds('elasticsearch.k8s.elastic.co', 'Elasticsearch'),
  ...kinds('kibana.k8s.elastic.co', 'Kibana'),
  ...kinds('agent.k8s.elastic.co', 'Agent'),
  ...kinds('apm.k8s.elastic.co', 'ApmServer'),
  ...kinds('beat.k8s.elastic.co', 'Beat'),
  ...kinds('logstash.k8s.elastic.co', 'Logstash'),
  ...withoutFields(
    [
      'postgresql.cnpg.io/Backup postgresql.cnpg.io/Cluster postgresql.cnpg.io/Database postgresql.cnpg.io/ImageCatalog postgresql.cnpg.io/Pooler postgresql.cnpg.io/Publication postgresql.cnpg.io/ScheduledBackup postgresql.cnpg.io/Subscription',
      'kafka.strimzi.io/Kafka kafka.strimzi.io/KafkaBridge kafka.strimzi.io/KafkaConnect kafka.strimzi.io/KafkaConnector kafka.strimzi.io/KafkaMirrorMaker2 kafka.strimzi.io/KafkaNodePool kafka.strimzi.io/KafkaRebalance kafka.strimzi.io/KafkaTopic kafka.strimzi.io/KafkaUser',
      'minio.min.io/Tenant rabbitmq.com/RabbitmqCluster redis.redis.opstreelabs.in/Redis redis.redis.opstreelabs.in/RedisCluster dragonflydb.io/Dragonfly databases.spotahome.com/RedisFailover mongodbcommunity.mongodb.com/MongoDBCommunity',
    ].join(' '),
  ),
}

/** CDI asks whether the account may create `datavolumes/source` where the source is (pkg/clone). */
const cloned = (at: string): NamingField => ({
  at,
  names: 'volume',
  form: 'sibling',
  grantedBy: 'cdi.kubevirt.io/datavolumes/source',
})
const dataVolume = (at: string): readonly NamingField[] => [
  cloned(`${at}.source.pvc.namespace`),
  cloned(`${at}.source.snapshot.namespace`),
  cloned(`${at}.sourceRef.namespace`),
  cloned(`${at}.pvc.dataSourceRef.namespace`),
  cloned(`${at}.storage.dataSourceRef.namespace`),
  { at: `${at}.source.http.url`, names: 'service', form: 'url' },
  { at: `${at}.source.imageio.url`, names: 'service', form: 'url' },
]
const included: readonly NamingField[] = [
  { at: 'spec.includedNamespaces.*', names: 'namespace' },
  { at: 'spec', names: 'namespace', form: 'everywhere', unless: ['includedNamespaces'] },
]

/** A claim, also as a workload's template: a volume of the whole cluster, or what another claim of another namespace holds. */
const claim = (spec: string): readonly NamingField[] => [
  { at: `${spec}.dataSourceRef.namespace`, names: 'volume', form: 'sibling' },
  { at: `${spec}.volumeName`, names: 'clusterObject', says: 'PersistentVolume', level: 'warning' },
]
const ofPods = (pod: string, ...more: readonly NamingField[]): Capability =>
  of(...claim(`${pod}.volumes.*.ephemeral.volumeClaimTemplate.spec`), ...more)

/** Volumes and their copies: CDI and KubeVirt (staging/src), the snapshot controller (client/config/crd), Velero, VolSync, Rook. */
export const storage: Capabilities = {
  '/PersistentVolumeClaim': of(...claim('spec')),
  '/Pod': ofPods('spec'),
  '/PodTemplate': ofPods('template.spec'),
  '/ReplicationController': ofPods('spec.template.spec'),
  'apps/DaemonSet': ofPods('spec.template.spec'),
  'apps/Deployment': ofPods('spec.template.spec'),
  'apps/ReplicaSet': ofPods('spec.template.spec'),
  'apps/StatefulSet': ofPods('spec.template.spec', ...claim('spec.volumeClaimTemplates.*.spec')),
  'batch/CronJob': ofPods('spec.jobTemplate.spec.template.spec'),
  'batch/Job': ofPods('spec.template.spec'),
  'cdi.kubevirt.io/DataVolume': of(...dataVolume('spec')),
  'cdi.kubevirt.io/DataSource': of(...dataVolume('spec')),
  'cdi.kubevirt.io/DataImportCron': of(...dataVolume('spec.template.spec')),
  'cdi.kubevirt.io/VolumeCloneSource': of(cloned('spec.source.namespace')),
  'kubevirt.io/VirtualMachine': of(
    ...dataVolume('spec.dataVolumeTemplates.*.spec'),
    { at: 'spec.template.spec.networks.*.multus.networkName', names: 'object', form: 'path', shared: true },
    {
      at: 'spec.template.spec.volumes.*.hostDisk.path',
      names: 'hostPath',
      says: 'uses a file of the node as a disk',
    },
  ),
  'kubevirt.io/VirtualMachineInstance': of(
    { at: 'spec.networks.*.multus.networkName', names: 'object', form: 'path', shared: true },
    { at: 'spec.volumes.*.hostDisk.path', names: 'hostPath', says: 'uses a file of the node as a disk' },
  ),
  'snapshot.storage.k8s.io/VolumeSnapshot': of({
    at: 'spec.source.volumeSnapshotContentName',
    names: 'clusterObject',
    says: 'VolumeSnapshotContent',
  }),
  'groupsnapshot.storage.k8s.io/VolumeGroupSnapshot': of({
    at: 'spec.source.volumeGroupSnapshotContentName',
    names: 'clusterObject',
    says: 'VolumeGroupSnapshotContent',
  }),
  'velero.io/Backup': of(...included),
  'velero.io/Restore': of(...included, { at: 'spec.namespaceMapping.*', names: 'namespace' }),
  'velero.io/Schedule': of({ at: 'spec.template.includedNamespaces.*', names: 'namespace' }),
  ...withoutFields(
    [
      'volsync.backube/ReplicationDestination volsync.backube/ReplicationSource kubevirt.io/VirtualMachineInstanceMigration',
      'objectbucket.io/ObjectBucketClaim ceph.rook.io/CephObjectStoreUser ceph.rook.io/CephBlockPool ceph.rook.io/CephObjectStore ceph.rook.io/CephFilesystem ceph.rook.io/CephCluster',
      'velero.io/BackupStorageLocation velero.io/VolumeSnapshotLocation longhorn.io/RecurringJob',
    ].join(' '),
  ),
}
