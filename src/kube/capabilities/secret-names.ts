import { valuesOf } from '../../flux/kinds.ts'
import { at, type Node, type Path, stringAt } from '../node.ts'
import { groupOf, idOf, type KubeObject } from '../object.ts'
import { placesOf } from './places-of.ts'

/** A field that names a Secret or ConfigMap of the object's namespace, whose content is read for it. */
export interface NameRead {
  readonly path: Path
  readonly kind: 'Secret' | 'ConfigMap'
  readonly name: string
  /** A key that decrypts, and nothing else. */
  readonly decrypts: boolean
}

const PODS =
  '**.imagePullSecrets.* **.secretKeyRef **.secretRef **.volumes.*.secret.secretName **.projected.sources.*.secret **.configMapKeyRef:ConfigMap **.configMapRef:ConfigMap **.volumes.*.configMap:ConfigMap'
const pods = (spec: string) => PODS.replaceAll('**', `${spec}.**`)

/** Places with blanks between, of a map with `name` (and maybe `kind`) or of the name itself; `:ConfigMap` where it is one. */
const READS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(valuesOf(row => row.secrets)),
  '/ServiceAccount': 'imagePullSecrets.* secrets.*',
  '/Pod': pods('spec'),
  'apps/Deployment': pods('spec.template'),
  'apps/StatefulSet': pods('spec.template'),
  'apps/DaemonSet': pods('spec.template'),
  'batch/Job': pods('spec.template'),
  'batch/CronJob': pods('spec.jobTemplate'),
  'networking.k8s.io/Ingress': 'spec.tls.*.secretName',
  'gateway.networking.k8s.io/Gateway': 'spec.listeners.*.tls.certificateRefs.*',
  'external-secrets.io/SecretStore':
    'spec.provider.**.secretRef spec.provider.**.secretAccessKeySecretRef spec.provider.**.accessKeyIDSecretRef spec.provider.**.tokenSecretRef spec.provider.**.clientSecret spec.provider.**.secretAccessKey',
  'external-secrets.io/PushSecret': 'spec.selector.secret',
  'cert-manager.io/Issuer':
    'spec.ca.secretName spec.acme.privateKeySecretRef spec.**.apiTokenSecretRef spec.**.apiKeySecretRef spec.**.tokenSecretRef spec.**.secretAccessKeySecretRef spec.**.clientSecretSecretRef spec.**.serviceAccountSecretRef',
  'cert-manager.io/Certificate': 'spec.keystores.**.passwordSecretRef',
}

/** Kinds that read Secrets or ConfigMaps which they name. */
export const readingKinds: readonly string[] = Object.keys(READS)

/** Every Secret and ConfigMap that an object names to read it. */
export function namesReadBy(object: KubeObject): NameRead[] {
  const { apiVersion, kind } = idOf(object)
  const own = `${groupOf(apiVersion)}/${kind}`
  if (!Object.hasOwn(READS, own)) return []
  return readsAt(object, READS[own]!)
}

function readsAt(object: KubeObject, places: string): NameRead[] {
  return places.split(' ').flatMap(place => {
    const [at = '', otherwise = 'Secret'] = place.split(':')
    return placesOf(object.root, at).flatMap(path => nameAt(object.root, path, otherwise))
  })
}

function nameAt(root: Node, path: Path, otherwise: string): NameRead[] {
  const node = at(root, path)
  const inMap = node?.type === 'map'
  const name = inMap ? (stringAt(node, ['name']) ?? stringAt(node, ['secretName'])) : stringAt(root, path)
  const kind = (inMap && stringAt(node, ['kind'])) || otherwise
  if (!name || (kind !== 'Secret' && kind !== 'ConfigMap')) return []
  return [{ path: inMap ? [...path, 'name'] : path, kind, name, decrypts: path.includes('decryption') }]
}

/** How a kind sends what a Secret holds to someone. */
interface Sending {
  /** Places as in READS. */
  readonly secrets: string
  /** Where the object itself says to whom; without it nothing of the object says so, and the Secret does. */
  readonly address?: string
}

const KEYS = (at: string) =>
  [
    'basicAuth.username basicAuth.password authorization.credentials bearerTokenSecret',
    'oauth2.clientId.secret oauth2.clientSecret oauth2.client_id.secret oauth2.client_secret tlsConfig.cert.secret tlsConfig.keySecret',
  ]
    .join(' ')
    .split(' ')
    .map(key => `${at}.${key}`)
    .join(' ')

const SENDS: Readonly<Record<string, Sending>> = {
  ...Object.fromEntries(valuesOf(row => row.sends)),
  'external-secrets.io/PushSecret': { secrets: 'spec.selector.secret' },
  'external-secrets.io/SecretStore': { secrets: READS['external-secrets.io/SecretStore']! },
  'generators.external-secrets.io/Webhook': { secrets: 'spec.secrets.*.secretRef', address: 'spec.url' },
  'cert-manager.io/Issuer': { secrets: READS['cert-manager.io/Issuer']! },
  'monitoring.coreos.com/ServiceMonitor': { secrets: KEYS('spec.endpoints.*') },
  'monitoring.coreos.com/PodMonitor': { secrets: KEYS('spec.podMetricsEndpoints.*') },
  'monitoring.coreos.com/Probe': { secrets: KEYS('spec') },
  'monitoring.coreos.com/ScrapeConfig': { secrets: KEYS('spec') },
  'monitoring.coreos.com/Prometheus': { secrets: KEYS('spec.**') },
  'monitoring.coreos.com/PrometheusAgent': { secrets: KEYS('spec.**') },
  ...Object.fromEntries(
    'VMServiceScrape VMPodScrape VMStaticScrape VMNodeScrape VMScrapeConfig VMProbe VMAgent VMAlert'
      .split(' ')
      .map(kind => [`operator.victoriametrics.com/${kind}`, { secrets: KEYS('spec.**') }]),
  ),
  'argoproj.io/Sensor': { secrets: 'spec.triggers.**.secretKeyRef' },
  'flagger.app/AlertProvider': { secrets: 'spec.secretRef' },
  'flagger.app/MetricTemplate': { secrets: 'spec.provider.secretRef' },
  'grafana.integreatly.org/GrafanaDatasource': { secrets: 'spec.valuesFrom.*.valueFrom.secretKeyRef' },
  'generators.external-secrets.io/GithubAccessToken': { secrets: 'spec.auth.privateKey.secretRef' },
  'volsync.backube/ReplicationSource': { secrets: 'spec.**.repository spec.**.keySecret spec.**.sshKeys' },
  'monitoring.coreos.com/AlertmanagerConfig': {
    secrets:
      'spec.receivers.**.apiURL spec.receivers.**.authPassword spec.receivers.**.authSecret spec.receivers.**.apiKey spec.receivers.**.routingKey spec.receivers.**.serviceKey spec.receivers.**.token spec.receivers.**.userKey spec.receivers.**.botToken spec.receivers.**.urlSecret spec.receivers.**.password spec.receivers.**.credentials spec.receivers.**.bearerTokenSecret',
  },
  'keda.sh/TriggerAuthentication': { secrets: 'spec.secretTargetRef.*' },
  'secretgen.carvel.dev/SecretExport': { secrets: 'metadata.name' },
}

/** Kinds whose objects have the content of Secrets sent to someone. */
export const sendingKinds: readonly string[] = Object.keys(SENDS)

/** The Secrets whose content an object has sent, and where it says to whom. */
export function secretsSentBy(object: KubeObject): { readonly reads: readonly NameRead[]; readonly address?: Path } {
  const { apiVersion, kind } = idOf(object)
  const own = `${groupOf(apiVersion)}/${kind}`
  const sending = Object.hasOwn(SENDS, own) ? SENDS[own]! : undefined
  if (!sending) return { reads: [] }
  const reads = readsAt(object, sending.secrets).filter(one => one.kind === 'Secret')
  return { reads, ...(sending.address ? { address: sending.address.split('.') } : {}) }
}
