import type { FormName } from './texts.ts'

type Fields = Readonly<Record<string, FormName>>

const KEY_REF: Fields = { name: 'subdomain', key: 'map-key' }
const WEBHOOK: Fields = { name: 'webhook-name' }

/**
 * Formats of text fields, or of the texts in a list field: Validate* functions of k8s.io/kubernetes, pkg/apis. An empty
 * text counts as absent, except in `not-empty` fields. A test compares each row with a real API server.
 */
export const FIELD_FORMS: Readonly<Record<string, Fields>> = {
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
export const MAP_FORMS: Readonly<
  Record<string, Readonly<Record<string, readonly [keys: FormName, values?: FormName]>>>
> = {
  'meta.v1.LabelSelector': { matchLabels: ['qualified', 'label-value'] },
  'core.v1.PodSpec': { nodeSelector: ['qualified', 'label-value'] },
  'core.v1.ServiceSpec': { selector: ['qualified', 'label-value'] },
  'core.v1.ReplicationControllerSpec': { selector: ['qualified', 'label-value'] },
  'core.v1.ConfigMap': { data: ['map-key'], binaryData: ['map-key'] },
  'core.v1.Secret': { data: ['map-key'], stringData: ['map-key'] },
}
