import type { Capabilities, Capability, NamingField } from './capability.ts'
import { withoutFields } from './without-fields.ts'

const FILES = 'makes Prometheus read a file of its own container, such as its token, and send it to what it scrapes'
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
const of = (...fields: readonly NamingField[]): Capability => ({ scope: 'Namespaced', fields })
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
