import { type Capabilities, type Capability, type NamingField, withoutFields } from './capability.ts'

const of = (...fields: readonly NamingField[]): Capability => ({ scope: 'Namespaced', fields })
const sinks: NamingField = { at: 'spec.**.ref.namespace', names: 'service', form: 'sibling' }
const uris: NamingField = { at: 'spec.**.uri', names: 'service', form: 'url' }
const eventing = of(sinks, uris)
const shared = (at: string): NamingField => ({ at, names: 'object', form: 'sibling', shared: true })

/** Its resolvers read tasks and pipelines of the namespace that a parameter names. */
const resolved = of({
  at: 'spec.**.params.*',
  names: 'namespace',
  form: 'parameter',
  where: { name: 'namespace' },
  shared: true,
})

/** Argo (manifests/crds), Knative (config/core), Tekton (config), Flagger (artifacts/flagger/crd.yaml) and KEDA (config/crd). */
export const delivery: Capabilities = {
  'argoproj.io/Application': of({ at: 'spec.destination.namespace', names: 'namespace' }),
  'argoproj.io/ApplicationSet': of(
    { at: 'spec.template.spec.destination.namespace', names: 'namespace' },
    { at: 'spec.generators.**.destination.namespace', names: 'namespace' },
  ),
  'argoproj.io/AppProject': of(
    { at: 'spec.destinations.*.namespace', names: 'namespace' },
    { at: 'spec.sourceNamespaces.*', names: 'namespace' },
  ),
  'argoproj.io/EventSource': of(
    { at: 'spec.resource.*.namespace', names: 'namespace' },
    { at: 'spec.**.url', names: 'service', form: 'url' },
  ),
  'argoproj.io/Sensor': of({ at: 'spec.triggers.**.url', names: 'service', form: 'url' }),
  'argoproj.io/AnalysisTemplate': of({ at: 'spec.metrics.*.provider.web.url', names: 'service', form: 'url' }),
  'argoproj.io/AnalysisRun': of({ at: 'spec.metrics.*.provider.web.url', names: 'service', form: 'url' }),
  // the controller writes weights into it
  'argoproj.io/Rollout': of(
    ...['virtualService.name', 'virtualServices.*.name', 'destinationRule.name'].map(
      (field): NamingField => ({
        at: `spec.strategy.canary.trafficRouting.istio.${field}`,
        names: 'object',
        form: 'path',
        access: 'write',
      }),
    ),
  ),
  ...Object.fromEntries(
    ['Pipeline', 'PipelineRun', 'Task', 'TaskRun', 'CustomRun'].map(kind => [`tekton.dev/${kind}`, resolved]),
  ),
  'eventing.knative.dev/Trigger': eventing,
  'eventing.knative.dev/Broker': of(sinks, uris, shared('spec.config.namespace')),
  'messaging.knative.dev/Subscription': eventing,
  'messaging.knative.dev/Channel': eventing,
  'messaging.knative.dev/InMemoryChannel': eventing,
  'flows.knative.dev/Sequence': eventing,
  'flows.knative.dev/Parallel': eventing,
  'sources.knative.dev/PingSource': eventing,
  'sources.knative.dev/SinkBinding': of(sinks, uris, {
    at: 'spec.subject.namespace',
    names: 'object',
    form: 'sibling',
  }),
  'sources.knative.dev/ContainerSource': eventing,
  'sources.knative.dev/ApiServerSource': of(sinks, uris, {
    at: 'spec.namespaceSelector',
    names: 'namespace',
    form: 'labels',
  }),
  'serving.knative.dev/DomainMapping': of(
    { at: 'metadata.name', names: 'host' },
    {
      at: 'spec.ref.namespace',
      names: 'service',
      form: 'sibling',
    },
  ),
  'triggers.tekton.dev/EventListener': of(
    { at: 'spec.namespaceSelector', names: 'namespace', form: 'selection' },
    { at: 'spec.**.objectRef.namespace', names: 'service', form: 'sibling', shared: true },
  ),
  'triggers.tekton.dev/Trigger': of({
    at: 'spec.**.objectRef.namespace',
    names: 'service',
    form: 'sibling',
    shared: true,
  }),
  'flagger.app/Canary': of(
    { at: 'spec.service.hosts.*', names: 'host' },
    { at: 'spec.service.gateways.*', names: 'service', form: 'path', shared: true },
    { at: 'spec.service.gatewayRefs.*.namespace', names: 'service', form: 'sibling', shared: true },
    { at: 'spec.**.templateRef.namespace', names: 'object', form: 'sibling', shared: true },
    { at: 'spec.**.providerRef.namespace', names: 'object', form: 'sibling', shared: true },
    { at: 'spec.analysis.webhooks.*.url', names: 'service', form: 'url', shared: true },
  ),
  'flagger.app/AlertProvider': of({ at: 'spec.address', names: 'service', form: 'url' }),
  'flagger.app/MetricTemplate': of({ at: 'spec.provider.address', names: 'service', form: 'url', shared: true }),
  'keda.sh/TriggerAuthentication': of({
    at: 'spec.podIdentity',
    names: 'ambient',
    level: 'warning',
    unless: ['identityId', 'identityOwner'],
    says: 'lets KEDA sign in with its own account, where that may be used',
  }),
  'keda.sh/ScaledObject': of({
    at: 'spec.triggers.*.authenticationRef.kind',
    names: 'ambient',
    level: 'warning',
    where: { '': 'ClusterTriggerAuthentication' },
    says: 'sends credentials of the platform to an address that the trigger names',
  }),
  'keda.sh/ScaledJob': of({
    at: 'spec.triggers.*.authenticationRef.kind',
    names: 'ambient',
    level: 'warning',
    where: { '': 'ClusterTriggerAuthentication' },
    says: 'sends credentials of the platform to an address that the trigger names',
  }),
  ...withoutFields(
    [
      'argoproj.io/Experiment argoproj.io/Workflow argoproj.io/WorkflowTemplate argoproj.io/CronWorkflow argoproj.io/WorkflowEventBinding argoproj.io/EventBus',
      'serving.knative.dev/Service serving.knative.dev/Configuration serving.knative.dev/Route serving.knative.dev/Revision eventing.knative.dev/EventType eventing.knative.dev/EventPolicy',
      'tekton.dev/StepAction triggers.tekton.dev/TriggerBinding triggers.tekton.dev/TriggerTemplate triggers.tekton.dev/Interceptor',
      'autoscaling.k8s.io/VerticalPodAutoscaler',
    ].join(' '),
  ),
}

const FILES =
  'makes Prometheus read a file of its own container and send it to what it scrapes. The file can be its token'
const files = (at: string): readonly NamingField[] =>
  ['bearerTokenFile', 'tlsConfig.certFile', 'tlsConfig.keyFile'].map(field => ({
    at: `${at}.${field}`,
    names: 'file',
    says: FILES,
  }))
const selected: NamingField = { at: 'spec.namespaceSelector', names: 'namespace', form: 'selection' }
/** An operator copies the credentials of what its instance selects into the namespace of the instance. */
const selecting = (...fields: readonly string[]): readonly NamingField[] =>
  fields.map(field => ({ at: `spec.${field}`, names: 'namespace', form: 'labels' }))
const OBJECTS = [
  'serviceMonitorNamespaceSelector',
  'podMonitorNamespaceSelector',
  'probeNamespaceSelector',
  'scrapeConfigNamespaceSelector',
  'ruleNamespaceSelector',
]
const VM_OBJECTS = [
  'serviceScrapeNamespaceSelector',
  'podScrapeNamespaceSelector',
  'probeNamespaceSelector',
  'nodeScrapeNamespaceSelector',
  'staticScrapeNamespaceSelector',
  'scrapeConfigNamespaceSelector',
]

/** Prometheus Operator (example/prometheus-operator-crd-full) and its sibling of VictoriaMetrics (config/crd). */
export const monitoring: Capabilities = {
  'monitoring.coreos.com/ServiceMonitor': of(selected, ...files('spec.endpoints.*')),
  'monitoring.coreos.com/PodMonitor': of(selected, ...files('spec.podMetricsEndpoints.*')),
  'monitoring.coreos.com/Probe': of(
    { at: 'spec.targets.ingress.namespaceSelector', names: 'namespace', form: 'selection' },
    { at: 'spec.prober.url', names: 'service', form: 'host', shared: true },
    { at: 'spec.targets.staticConfig.static.*', names: 'service', form: 'url' },
  ),
  'monitoring.coreos.com/ScrapeConfig': of(
    { at: 'spec.staticConfigs.*.targets.*', names: 'service', form: 'url' },
    { at: 'spec.httpSDConfigs.*.url', names: 'service', form: 'url' },
    { at: 'spec.fileSDConfigs.*.files.*', names: 'file', says: FILES },
    { at: 'spec.kubernetesSDConfigs.*.namespaces.names.*', names: 'namespace' },
    {
      at: 'spec.kubernetesSDConfigs.*',
      names: 'namespace',
      form: 'everywhere',
      unless: ['namespaces.names', 'namespaces.ownNamespace'],
    },
  ),
  'monitoring.coreos.com/Prometheus': of(...selecting(...OBJECTS), {
    at: 'spec.alerting.alertmanagers.*.namespace',
    names: 'service',
    form: 'sibling',
    shared: true,
  }),
  'monitoring.coreos.com/PrometheusAgent': of(...selecting(...OBJECTS)),
  'monitoring.coreos.com/Alertmanager': of(...selecting('alertmanagerConfigNamespaceSelector')),
  'monitoring.coreos.com/ThanosRuler': of(...selecting('ruleNamespaceSelector')),
  'monitoring.coreos.com/AlertmanagerConfig': of({
    at: 'spec.receivers.**.url',
    names: 'service',
    form: 'url',
    shared: true,
  }),
  'operator.victoriametrics.com/VMServiceScrape': of(selected, ...files('spec.endpoints.*')),
  'operator.victoriametrics.com/VMPodScrape': of(selected, ...files('spec.podMetricsEndpoints.*')),
  'operator.victoriametrics.com/VMStaticScrape': of(
    { at: 'spec.targetEndpoints.*.targets.*', names: 'service', form: 'url' },
    ...files('spec.targetEndpoints.*'),
  ),
  'operator.victoriametrics.com/VMProbe': of(
    { at: 'spec.targets.ingress.namespaceSelector', names: 'namespace', form: 'selection' },
    { at: 'spec.targets.staticConfig.targets.*', names: 'service', form: 'url' },
    ...files('spec'),
  ),
  'operator.victoriametrics.com/VMUser': of(
    { at: 'spec.targetRefs.*.crd.namespace', names: 'service', form: 'sibling' },
    { at: 'spec.targetRefs.*.static.url', names: 'service', form: 'url' },
    { at: 'spec.targetRefs.*.static.urls.*', names: 'service', form: 'url' },
  ),
  'operator.victoriametrics.com/VMAgent': of(...selecting(...VM_OBJECTS)),
  'operator.victoriametrics.com/VMAlert': of(...selecting('ruleNamespaceSelector')),
  'operator.victoriametrics.com/VMAlertmanager': of(...selecting('configNamespaceSelector')),
  'operator.victoriametrics.com/VMAuth': of(...selecting('userNamespaceSelector')),
  ...withoutFields(
    [
      'monitoring.coreos.com/PrometheusRule operator.victoriametrics.com/VMRule operator.victoriametrics.com/VMSingle operator.victoriametrics.com/VMCluster operator.victoriametrics.com/VMAlertmanagerConfig',
      'grafana.integreatly.org/Grafana grafana.integreatly.org/GrafanaAlertRuleGroup grafana.integreatly.org/GrafanaContactPoint grafana.integreatly.org/GrafanaDashboard grafana.integreatly.org/GrafanaDatasource grafana.integreatly.org/GrafanaFolder',
      'opentelemetry.io/Instrumentation opentelemetry.io/OpenTelemetryCollector',
    ].join(' '),
  ),
}

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

const apiCalls: readonly NamingField[] = [
  { at: 'spec.**.apiCall.urlPath', names: 'object', form: 'apiPath' },
  { at: 'spec.**.apiCall.service.url', names: 'service', form: 'url' },
  { at: 'spec.**.configMap.namespace', names: 'configMap', form: 'sibling' },
]

/** Kyverno (config/crds): its controllers read and write with their own rights for authors of a Policy. */
export const policies: Capabilities = {
  'kyverno.io/Policy': {
    scope: 'Namespaced',
    fields: [
      ...apiCalls,
      { at: 'spec.**.clone.namespace', names: 'object', form: 'sibling' },
      { at: 'spec.**.cloneList.namespace', names: 'namespace' },
      { at: 'spec.**.generate.namespace', names: 'namespace' },
      { at: 'spec.**.targets.*.namespace', names: 'namespace' },
      { at: 'spec.**.secret.namespace', names: 'secret', form: 'sibling' },
    ],
  },
  'kyverno.io/CleanupPolicy': { scope: 'Namespaced', fields: apiCalls },
  // what a PolicyException does is the rule admission-config's
  ...withoutFields('kyverno.io/PolicyException policies.kyverno.io/PolicyException'),
}
