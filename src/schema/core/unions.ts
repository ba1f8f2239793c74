/** Fields of which at most one may be set; with `isNeeded`, exactly one. */
interface Union {
  readonly fields: readonly string[]
  readonly isNeeded: boolean
}

const oneOf = (fields: string, isNeeded = true): Union => ({ fields: fields.split(' '), isNeeded })

const VOLUMES =
  'awsElasticBlockStore azureDisk azureFile cephfs cinder csi fc flexVolume flocker gcePersistentDisk glusterfs hostPath iscsi nfs photonPersistentDisk portworxVolume quobyte rbd scaleIO storageos vsphereVolume'
const WEBHOOK = oneOf('url service')

/** Unions: Validate* functions of k8s.io/kubernetes, pkg/apis. A test compares each row with a real API server. */
export const UNIONS: Readonly<Record<string, Union>> = {
  'core.v1.Probe': oneOf('exec httpGet tcpSocket grpc'),
  'core.v1.LifecycleHandler': oneOf('exec httpGet tcpSocket sleep'),
  // a volume without a source is an emptyDir
  'core.v1.Volume': oneOf(
    `${VOLUMES} configMap downwardAPI emptyDir ephemeral gitRepo image persistentVolumeClaim projected secret`,
    false,
  ),
  'core.v1.PersistentVolumeSpec': oneOf(`${VOLUMES} local`),
  'core.v1.VolumeProjection': oneOf(
    'secret configMap downwardAPI serviceAccountToken clusterTrustBundle podCertificate',
    false,
  ),
  'core.v1.EnvVarSource': oneOf('configMapKeyRef fieldRef fileKeyRef resourceFieldRef secretKeyRef'),
  'core.v1.EnvFromSource': oneOf('configMapRef secretRef'),
  'networking.v1.IngressBackend': oneOf('service resource'),
  'networking.v1.ServiceBackendPort': oneOf('name number'),
  'policy.v1.PodDisruptionBudgetSpec': oneOf('minAvailable maxUnavailable', false),
  'admissionregistration.v1.WebhookClientConfig': WEBHOOK,
  'apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookClientConfig': WEBHOOK,
}
