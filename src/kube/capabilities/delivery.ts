import type { Capabilities, Capability, NamingField } from './capability.ts'
import { withoutFields } from './without-fields.ts'

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
