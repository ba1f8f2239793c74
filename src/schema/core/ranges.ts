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
export const RANGES: Readonly<Record<string, Ranges>> = {
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
export const PORTS_BY_NAME: Readonly<Record<string, readonly string[]>> = {
  'core.v1.HTTPGetAction': ['port'],
  'core.v1.TCPSocketAction': ['port'],
  'networking.v1.NetworkPolicyPort': ['port'],
}
