import type { Node, Path } from '../../kube/node.ts'
import {
  checkClusterRole,
  checkClusterRoleBinding,
  checkConfigMap,
  checkNamespace,
  checkRole,
  checkRoleBinding,
  checkSecret,
  checkWebhook,
} from './access.ts'
import { checkMetadata, checkNodeRequirement, checkRequirement, checkTexts } from './labels.ts'
import {
  checkBlock,
  checkIngress,
  checkIngressPath,
  checkPeer,
  checkPolicyPort,
  checkPolicyTypes,
  checkService,
} from './network.ts'
import {
  checkBudget,
  checkContainer,
  checkController,
  checkFieldPath,
  checkImages,
  checkMount,
  checkPod,
  checkPodMounts,
  checkSecurity,
  checkToleration,
  checkVariable,
  WORKLOADS,
} from './pod.ts'
import {
  badValue,
  forbiddenField,
  isHidden,
  isSet,
  isUnknown,
  missingField,
  type Problem,
  type TypeCheck,
} from './problem.ts'
import { checkAutoscaler, checkClaim, checkLimits, checkMetric, checkQuota, checkResources } from './resources.ts'
import { FORMS, type FormName } from './texts.ts'

/** Reports problems in the value of one field. */
export type FieldCheck = (node: Node, path: Path, add: (problem: Problem) => void) => void

/** Checks of an object type beyond the types of its fields. */
interface TypeRules {
  readonly type: readonly TypeCheck[]
  readonly fields: ReadonlyMap<string, FieldCheck>
}

const made = new Map<string, TypeRules | undefined>()

/** The checks of a Kubernetes type by its name in the table; undefined if it has none. Cached by name. */
export function checksOf(name: string): TypeRules | undefined {
  if (made.has(name)) return made.get(name)
  const type = [...own(TYPE_CHECKS, name, []), ...(Object.hasOwn(UNIONS, name) ? [union(name)] : [])]
  const fields = new Map<string, FieldCheck>()
  const note = (field: string, check: FieldCheck) => {
    const before = fields.get(field)
    fields.set(field, before ? both(before, check) : check)
  }
  for (const [field, form] of Object.entries(own(FIELD_FORMS, name, {}))) note(field, texts(form))
  for (const field of own(PORTS_BY_NAME, name, [])) note(field, texts('port-name', true))
  for (const [field, [least, most]] of Object.entries(own(RANGES, name, {}))) note(field, range(least, most))
  for (const [field, [keys, values]] of Object.entries(own(MAP_FORMS, name, {})))
    note(field, (node, path, add) => checkTexts(node.type === 'map' ? node : undefined, path, keys, values, add))
  const checks = type.length + fields.size === 0 ? undefined : { type, fields }
  made.set(name, checks)
  return checks
}

const both =
  (first: FieldCheck, second: FieldCheck): FieldCheck =>
  (node, path, add) => {
    first(node, path, add)
    second(node, path, add)
  }

const own = <T>(table: Readonly<Record<string, T>>, name: string, nothing: T): T =>
  Object.hasOwn(table, name) ? table[name]! : nothing

/** An empty text counts as absent, except in a list or where `isNeeded`. */
const texts =
  (name: FormName, isNeeded = false): FieldCheck =>
  (node, path, add) => {
    if (node.type === 'list') {
      for (const [index, item] of node.items.entries()) text(item, [...path, index], name, add)
    } else if (isNeeded || !(node.type === 'scalar' && node.value === '')) text(node, path, name, add)
  }

function text(node: Node, path: Path, name: FormName, add: (problem: Problem) => void): void {
  if (node.type !== 'scalar' || typeof node.value !== 'string' || isUnknown(node)) return
  if (!FORMS[name].fits(node.value)) add(badValue(path, FORMS[name].allowed, 'text of another form'))
}

const range =
  (least: number, most: number): FieldCheck =>
  (node, path, add) => {
    if (node.type !== 'scalar' || isUnknown(node)) return
    if (typeof node.value !== 'number' && typeof node.value !== 'bigint') return
    const number = Number(node.value)
    if (number >= least && number <= most) return
    add(
      badValue(
        path,
        most === Infinity ? `a number of at least ${least}` : `a number from ${least} to ${most}`,
        'another number',
      ),
    )
  }

function union(name: string): TypeCheck {
  const { fields, isNeeded } = UNIONS[name]!
  return (node, path, add) => {
    const found = fields.filter(field => isSet(node, field))
    if (fields.some(field => isHidden(node, field))) return
    for (const other of found.slice(1)) add(forbiddenField([...path, other], `${found[0]} or ${other}`))
    if (isNeeded && found.length === 0) add(missingField([...path, fields[0]!], `one of ${fields.join(', ')}`))
  }
}

/** Checks by object type that the tables of fields cannot express. */
const TYPE_CHECKS: Readonly<Record<string, readonly TypeCheck[]>> = {
  ...WORKLOADS,
  'meta.v1.ObjectMeta': [checkMetadata],
  'meta.v1.LabelSelectorRequirement': [checkRequirement],
  'core.v1.NodeSelectorRequirement': [checkNodeRequirement],
  'core.v1.Pod': [checkPodMounts, checkImages],
  'core.v1.PodSpec': [checkPod],
  'core.v1.Container': [checkContainer],
  'core.v1.EnvVar': [checkVariable],
  'core.v1.VolumeMount': [checkMount],
  'core.v1.SecurityContext': [checkSecurity],
  'core.v1.Toleration': [checkToleration],
  'core.v1.ResourceRequirements': [checkResources],
  'core.v1.PersistentVolumeClaimSpec': [checkClaim],
  'core.v1.ServiceSpec': [checkService],
  'core.v1.Secret': [checkSecret],
  'core.v1.ConfigMap': [checkConfigMap],
  'core.v1.LimitRangeItem': [checkLimits],
  'core.v1.ResourceQuotaSpec': [checkQuota],
  'core.v1.ReplicationControllerSpec': [checkController],
  'core.v1.Namespace': [checkNamespace],
  'core.v1.ObjectFieldSelector': [checkFieldPath],
  'admissionregistration.v1.ValidatingWebhook': [checkWebhook],
  'admissionregistration.v1.MutatingWebhook': [checkWebhook],
  'networking.v1.NetworkPolicySpec': [checkPolicyTypes],
  'networking.v1.IngressSpec': [checkIngress],
  'networking.v1.HTTPIngressPath': [checkIngressPath],
  'networking.v1.IPBlock': [checkBlock],
  'networking.v1.NetworkPolicyPeer': [checkPeer],
  'networking.v1.NetworkPolicyPort': [checkPolicyPort],
  'autoscaling.v2.HorizontalPodAutoscalerSpec': [checkAutoscaler],
  'autoscaling.v2.MetricSpec': [checkMetric],
  'policy.v1.PodDisruptionBudgetSpec': [checkBudget],
  'rbac.v1.Role': [checkRole],
  'rbac.v1.ClusterRole': [checkClusterRole],
  'rbac.v1.RoleBinding': [checkRoleBinding],
  'rbac.v1.ClusterRoleBinding': [checkClusterRoleBinding],
}

type Fields = Readonly<Record<string, FormName>>

const KEY_REF: Fields = { name: 'subdomain', key: 'map-key' }
const WEBHOOK: Fields = { name: 'webhook-name' }

/**
 * Formats of text fields, or of the texts in a list field: Validate* functions of k8s.io/kubernetes, pkg/apis. An empty
 * text counts as absent, except in `not-empty` fields. A test compares each row with a real API server.
 */
const FIELD_FORMS: Readonly<Record<string, Fields>> = {
  'meta.v1.LabelSelectorRequirement': { key: 'qualified', values: 'label-value' },
  'core.v1.NodeSelectorRequirement': { key: 'qualified' },
  'core.v1.PodAffinityTerm': { topologyKey: 'qualified' },
  'core.v1.Toleration': { key: 'qualified' },
  'core.v1.Taint': { key: 'qualified', value: 'label-value' },
  'core.v1.PodSpec': {
    serviceAccountName: 'subdomain',
    nodeName: 'subdomain',
    hostname: 'label',
    subdomain: 'label',
    priorityClassName: 'subdomain',
    runtimeClassName: 'subdomain',
  },
  'core.v1.HostAlias': { ip: 'ip', hostnames: 'subdomain' },
  'core.v1.PodDNSConfig': { nameservers: 'ip' },
  'core.v1.Container': { name: 'label' },
  'core.v1.ContainerPort': { name: 'port-name' },
  'core.v1.EnvVar': { name: 'env-name' },
  'core.v1.EnvFromSource': { prefix: 'env-name' },
  'core.v1.ConfigMapKeySelector': KEY_REF,
  'core.v1.SecretKeySelector': KEY_REF,
  'core.v1.ConfigMapEnvSource': { name: 'subdomain' },
  'core.v1.SecretEnvSource': { name: 'subdomain' },
  'core.v1.Volume': { name: 'label' },
  'core.v1.KeyToPath': { key: 'not-empty', path: 'relative-path' },
  'core.v1.DownwardAPIVolumeFile': { path: 'relative-path' },
  'core.v1.ServiceAccountTokenProjection': { path: 'relative-path' },
  'core.v1.VolumeMount': { subPath: 'relative-path', subPathExpr: 'relative-path' },
  'core.v1.HostPathVolumeSource': { path: 'no-backsteps' },
  'core.v1.NFSVolumeSource': { path: 'absolute-path' },
  'core.v1.ServiceSpec': { clusterIP: 'cluster-ip', externalIPs: 'ip', externalName: 'external-name' },
  'core.v1.ServicePort': { name: 'label', appProtocol: 'qualified', targetPort: 'port-name' },
  'core.v1.PersistentVolumeClaimSpec': { storageClassName: 'subdomain' },
  'core.v1.PersistentVolumeSpec': { storageClassName: 'subdomain' },
  'apps.v1.StatefulSetSpec': { serviceName: 'label' },
  'batch.v1.CronJobSpec': { schedule: 'cron' },
  'networking.v1.IngressSpec': { ingressClassName: 'subdomain' },
  'networking.v1.IngressRule': { host: 'ingress-host' },
  'networking.v1.IngressTLS': { hosts: 'ingress-host', secretName: 'subdomain' },
  'networking.v1.ServiceBackendPort': { name: 'port-name' },
  'networking.v1.IngressClassSpec': { controller: 'controller' },
  'autoscaling.v2.CrossVersionObjectReference': { kind: 'path-segment', name: 'path-segment' },
  'rbac.v1.RoleRef': { name: 'path-segment' },
  'storage.v1.StorageClass': { provisioner: 'qualified' },
  'node.v1.RuntimeClass': { handler: 'label' },
  'admissionregistration.v1.ValidatingWebhook': WEBHOOK,
  'admissionregistration.v1.MutatingWebhook': WEBHOOK,
}

/** Formats of the keys, and of the values, of maps of texts. */
const MAP_FORMS: Readonly<Record<string, Readonly<Record<string, readonly [keys: FormName, values?: FormName]>>>> = {
  'meta.v1.LabelSelector': { matchLabels: ['qualified', 'label-value'] },
  'core.v1.PodSpec': { nodeSelector: ['qualified', 'label-value'] },
  'core.v1.ServiceSpec': { selector: ['qualified', 'label-value'] },
  'core.v1.ReplicationControllerSpec': { selector: ['qualified', 'label-value'] },
  'core.v1.ConfigMap': { data: ['map-key'], binaryData: ['map-key'] },
  'core.v1.Secret': { data: ['map-key'], stringData: ['map-key'] },
}

type Range = readonly [least: number, most: number]
type Ranges = Readonly<Record<string, Range>>

const PORT: Range = [1, 65_535]
const INT32 = 2 ** 31 - 1
const NATURAL: Range = [0, Infinity]
const ID: Range = [0, INT32]
const MODE: Range = [0, 0o777]
const WEIGHT: Range = [1, 100]
const TIMEOUT: Range = [1, 30]

const WORKLOAD: Ranges = { replicas: NATURAL, minReadySeconds: NATURAL, revisionHistoryLimit: NATURAL }

/** Ranges of numbers: Validate* functions of k8s.io/kubernetes, pkg/apis. A test compares each row with a real API server. */
const RANGES: Readonly<Record<string, Ranges>> = {
  'core.v1.ContainerPort': { containerPort: PORT, hostPort: [0, 65_535] },
  'core.v1.ServicePort': { port: PORT, targetPort: [0, 65_535], nodePort: [0, 65_535] },
  'core.v1.HTTPGetAction': { port: PORT },
  'core.v1.TCPSocketAction': { port: PORT },
  'core.v1.GRPCAction': { port: PORT },
  'core.v1.Probe': {
    initialDelaySeconds: NATURAL,
    timeoutSeconds: NATURAL,
    periodSeconds: NATURAL,
    successThreshold: NATURAL,
    failureThreshold: NATURAL,
    terminationGracePeriodSeconds: [1, Infinity],
  },
  'core.v1.PodSpec': { activeDeadlineSeconds: [1, INT32] },
  'core.v1.SecurityContext': { runAsUser: ID, runAsGroup: ID },
  'core.v1.PodSecurityContext': { runAsUser: ID, runAsGroup: ID, fsGroup: ID },
  'core.v1.ConfigMapVolumeSource': { defaultMode: MODE },
  'core.v1.SecretVolumeSource': { defaultMode: MODE },
  'core.v1.ProjectedVolumeSource': { defaultMode: MODE },
  'core.v1.DownwardAPIVolumeSource': { defaultMode: MODE },
  'core.v1.KeyToPath': { mode: MODE },
  'core.v1.ServiceAccountTokenProjection': { expirationSeconds: [600, 2 ** 32] },
  'core.v1.WeightedPodAffinityTerm': { weight: WEIGHT },
  'core.v1.PreferredSchedulingTerm': { weight: WEIGHT },
  'core.v1.TopologySpreadConstraint': { maxSkew: [1, Infinity], minDomains: [1, Infinity] },
  'core.v1.ClientIPConfig': { timeoutSeconds: [1, 86_400] },
  'core.v1.ReplicationControllerSpec': WORKLOAD,
  'apps.v1.DeploymentSpec': { ...WORKLOAD, progressDeadlineSeconds: NATURAL },
  'apps.v1.StatefulSetSpec': { replicas: NATURAL, minReadySeconds: NATURAL },
  'apps.v1.DaemonSetSpec': WORKLOAD,
  'apps.v1.ReplicaSetSpec': WORKLOAD,
  'apps.v1.RollingUpdateStatefulSetStrategy': { partition: NATURAL },
  'batch.v1.JobSpec': {
    parallelism: NATURAL,
    completions: NATURAL,
    activeDeadlineSeconds: NATURAL,
    backoffLimit: NATURAL,
    ttlSecondsAfterFinished: NATURAL,
    backoffLimitPerIndex: NATURAL,
    maxFailedIndexes: NATURAL,
  },
  'batch.v1.CronJobSpec': {
    startingDeadlineSeconds: NATURAL,
    successfulJobsHistoryLimit: NATURAL,
    failedJobsHistoryLimit: NATURAL,
  },
  'autoscaling.v2.HorizontalPodAutoscalerSpec': { minReplicas: NATURAL, maxReplicas: [1, Infinity] },
  'autoscaling.v2.MetricTarget': { averageUtilization: [1, Infinity] },
  'networking.v1.ServiceBackendPort': { number: PORT },
  'networking.v1.NetworkPolicyPort': { port: PORT, endPort: PORT },
  'scheduling.v1.PriorityClass': { value: [-(2 ** 31), 1_000_000_000] },
  'coordination.v1.LeaseSpec': { leaseDurationSeconds: [1, Infinity], leaseTransitions: NATURAL },
  'admissionregistration.v1.ValidatingWebhook': { timeoutSeconds: TIMEOUT },
  'admissionregistration.v1.MutatingWebhook': { timeoutSeconds: TIMEOUT },
}

/** Fields that take a port's number or its name, which must not be empty. */
const PORTS_BY_NAME: Readonly<Record<string, readonly string[]>> = {
  'core.v1.HTTPGetAction': ['port'],
  'core.v1.TCPSocketAction': ['port'],
  'networking.v1.NetworkPolicyPort': ['port'],
}

/** Fields of which at most one may be set; with `isNeeded`, exactly one. */
interface Union {
  readonly fields: readonly string[]
  readonly isNeeded: boolean
}

const oneOf = (fields: string, isNeeded = true): Union => ({ fields: fields.split(' '), isNeeded })

const VOLUMES =
  'awsElasticBlockStore azureDisk azureFile cephfs cinder csi fc flexVolume flocker gcePersistentDisk glusterfs hostPath iscsi nfs photonPersistentDisk portworxVolume quobyte rbd scaleIO storageos vsphereVolume'
const WEBHOOK_UNIONS = oneOf('url service')

/** Unions: Validate* functions of k8s.io/kubernetes, pkg/apis. A test compares each row with a real API server. */
const UNIONS: Readonly<Record<string, Union>> = {
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
  'admissionregistration.v1.WebhookClientConfig': WEBHOOK_UNIONS,
  'apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookClientConfig': WEBHOOK_UNIONS,
}
