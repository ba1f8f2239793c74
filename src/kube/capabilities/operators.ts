import type { Capabilities, Capability } from './capability.ts'
import { withoutFields } from './without-fields.ts'

/** Parts of a cluster are referred to by kind, name and namespace. */
const referring: Capability = {
  scope: 'Namespaced',
  fields: [{ at: 'spec.**.namespace', names: 'object', form: 'sibling' }],
}

/** Cluster API (config/crd), OpenKruise (config/crd), Crossplane, the runners of GitHub Actions, and networks of pods. */
export const operators: Capabilities = {
  'cluster.x-k8s.io/Cluster': referring,
  'cluster.x-k8s.io/Machine': referring,
  'cluster.x-k8s.io/MachineDeployment': referring,
  'cluster.x-k8s.io/MachinePool': referring,
  'cluster.x-k8s.io/MachineSet': referring,
  'k8s.cni.cncf.io/NetworkAttachmentDefinition': {
    scope: 'Namespaced',
    fields: [
      {
        at: 'spec.config',
        names: 'privilege',
        level: 'warning',
        says: 'runs on the node as root when a pod of the namespace uses it',
      },
    ],
  },
  'protection.crossplane.io/Usage': referring,
  'kubernetes.m.crossplane.io/Object': {
    scope: 'Namespaced',
    fields: [
      { at: 'spec.references.*.*.namespace', names: 'object', form: 'sibling' },
      { at: 'spec.connectionDetails.*.namespace', names: 'secret', form: 'sibling' },
    ],
  },
  ...withoutFields(
    [
      'apps.kruise.io/AdvancedCronJob apps.kruise.io/BroadcastJob apps.kruise.io/CloneSet apps.kruise.io/ContainerRecreateRequest apps.kruise.io/DaemonSet apps.kruise.io/EphemeralJob apps.kruise.io/ImagePullJob apps.kruise.io/ImageListPullJob apps.kruise.io/PersistentPodState apps.kruise.io/PodProbeMarker apps.kruise.io/StatefulSet apps.kruise.io/UnitedDeployment apps.kruise.io/WorkloadSpread policy.kruise.io/PodUnavailableBudget',
      'rollouts.kruise.io/Rollout rollouts.kruise.io/TrafficRouting',
      'actions.github.com/AutoscalingRunnerSet actions.summerwind.dev/RunnerDeployment actions.summerwind.dev/RunnerSet actions.summerwind.dev/HorizontalRunnerAutoscaler',
      'cluster.x-k8s.io/MachineHealthCheck kueue.x-k8s.io/LocalQueue ray.io/RayCluster ray.io/RayJob ray.io/RayService',
    ].join(' '),
  ),
}
