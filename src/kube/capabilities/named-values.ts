import { valuesOf } from '../flux-kinds.ts'
import { at, isTrue, itemsOf, type Node, type Path, stringAt } from '../node.ts'
import { groupOf, idOf, type KubeObject } from '../object.ts'
import { textsOf } from '../read-fields.ts'
import { type NamingField, placesOf, stepsOf } from './capability.ts'

/** Every namespace, or an unknown one. */
export const ANY_NAMESPACE = '*'

/** What one value of an object names. */
export interface NamedValue {
  readonly path: Path
  /** As it is written, for people. */
  readonly text: string
  /** '': that of the object; ANY_NAMESPACE: any. */
  readonly namespace: string
  /** '' where only the namespace is written. */
  readonly name: string
}

/** What a field of an object names: each value that is there, with the namespace that it leads to. */
export function namedBy(root: Node, field: NamingField): NamedValue[] {
  return placesOf(root, field.at).flatMap(path => namedAt(root, path, field))
}

/** The same of the value at one place. */
export function namedAt(root: Node, path: Path, field: NamingField): NamedValue[] {
  const node = at(root, path)
  return node && counts(node, field) ? valuesAt(root, path, node, field) : []
}

/** Whether what stands beside a value makes it mean something. */
function counts(node: Node, { where = {}, unless = [], orEmpty }: NamingField): boolean {
  if (node.type === 'scalar' && (node.value === null || node.value === '')) return orEmpty ?? false
  const matches = Object.entries(where).every(
    ([place, value]) => stringAt(node, place === '' ? [] : stepsOf(place)) === value,
  )
  return matches && !unless.some(place => isSet(at(node, stepsOf(place))))
}

/** Something stands there: a map of empty maps says nothing. */
function isSet(node: Node | undefined): boolean {
  if (node?.type === 'scalar') return node.value !== null && node.value !== '' && node.value !== false
  if (node?.type === 'list') return node.items.some(isSet)
  return node?.type === 'map' && [...node.fields.values()].some(({ value }) => isSet(value))
}

function valuesAt(root: Node, path: Path, node: Node, field: NamingField): NamedValue[] {
  const text = stringAt(node, [])?.trim()
  const one = (namespace: string, name = '', written = text ?? ''): NamedValue => ({
    path,
    text: written || namespace,
    namespace,
    name,
  })
  switch (field.form ?? 'name') {
    case 'selection':
      return selected(node, path)
    case 'labels':
      return labelled(node, path)
    case 'everywhere':
      return [one(ANY_NAMESPACE, '', text || 'every namespace')]
    case 'switch':
      return switched(root, path, node, field)
    case 'keys':
      return keys(node, path)
    case 'parameter':
      return parameter(node, path)
    case 'reference':
      return referred(node, path)
  }
  if (text === undefined) return node.type === 'scalar' ? [] : [one(ANY_NAMESPACE, '', 'no text')]
  switch (field.form ?? 'name') {
    case 'sibling':
      return [one(text, field.names === 'namespace' ? '' : (stringAt(at(root, path.slice(0, -1)), ['name']) ?? ''))]
    case 'path':
      return text.startsWith('[') ? namespacesOf(path, text) : parts(text).map(part => pathOf(path, part))
    case 'hyphen':
      return parts(text).map(part => ({ path, text: part, namespace: part.replace(/@.*$/, ''), name: '' }))
    case 'patterns':
      return parts(text).map(part => ({ path, text: part, namespace: part, name: '' }))
    case 'apiPath':
      return [{ path, text, namespace: ofApiPath(text), name: '' }]
    default:
      return field.names === 'namespace' ? [one(text)] : [one('', text)]
  }
}

const parts = (text: string) =>
  text
    .split(',')
    .map(part => part.trim())
    .filter(Boolean)

function pathOf(path: Path, text: string): NamedValue {
  const slash = text.indexOf('/')
  const namespace = slash < 0 ? '' : text.slice(0, slash)
  return { path, text, namespace: namespace === '.' || namespace === '~' ? '' : namespace, name: text.slice(slash + 1) }
}

function referred(node: Node, path: Path): NamedValue[] {
  const namespace = stringAt(node, ['namespace']) ?? ''
  const name = stringAt(node, ['name']) ?? ''
  return [{ path: [...path, 'namespace'], text: `${namespace}/${name}`, namespace, name }]
}

/** A list as JSON, in an annotation. */
function namespacesOf(path: Path, text: string): NamedValue[] {
  const found = [...text.matchAll(/"namespace"\s*:\s*"([^"]*)"/g)]
  return found.map(([, namespace = '']) => ({ path, text: namespace, namespace, name: '' }))
}

/** `name: namespace` among parameters. */
function parameter(node: Node, path: Path): NamedValue[] {
  const namespace = stringAt(node, ['value'])?.trim() ?? ''
  return [{ path: [...path, 'value'], text: namespace, namespace, name: '' }]
}

/** `any: true`, or names. */
function selected(node: Node, path: Path): NamedValue[] {
  const any = at(node, ['any'])
  if (isTrue(any)) return [{ path: [...path, 'any'], text: 'any', namespace: ANY_NAMESPACE, name: '' }]
  const names = at(node, ['matchNames'])
  if (names?.type !== 'list') return []
  return names.items.map((item, index) => {
    const text = stringAt(item, []) ?? ANY_NAMESPACE
    return { path: [...path, 'matchNames', index], text, namespace: text, name: '' }
  })
}

const NAME_LABEL = 'kubernetes.io/metadata.name'

/** A selector over namespaces by labels: only their names say for certain which it selects; an empty one selects all. */
function labelled(node: Node, path: Path): NamedValue[] {
  const text = stringAt(node, ['matchLabels', NAME_LABEL])
  if (text !== undefined) return [{ path, text, namespace: text, name: '' }]
  const items = itemsOf(at(node, ['matchExpressions']))
  const named = items.find(item => stringAt(item, ['key']) === NAME_LABEL && stringAt(item, ['operator']) === 'In')
  const names = named && textsOf(at(named, ['values']))
  if (names) return names.map(name => ({ path, text: name, namespace: name, name: '' }))
  return [{ path, text: 'namespaces by labels', namespace: ANY_NAMESPACE, name: '' }]
}

function switched(root: Node, path: Path, node: Node, { limitedBy }: NamingField): NamedValue[] {
  const isOn = node.type === 'scalar' && String(node.value).trim().toLowerCase() === 'true'
  if (!isOn) return []
  const limits = limitedBy === undefined ? undefined : stringAt(at(root, path.slice(0, -1)), [limitedBy])
  const names = parts(limits ?? '')
  if (names.length === 0) return [{ path, text: 'every namespace', namespace: ANY_NAMESPACE, name: '' }]
  return names.map(name => ({ path, text: name, namespace: name, name: '' }))
}

function keys(node: Node, path: Path): NamedValue[] {
  if (node.type !== 'map') return []
  return [...node.fields.keys()].flatMap(key => {
    const dot = key.indexOf('.')
    const [namespace, name] = [key.slice(0, dot), key.slice(dot + 1)]
    return dot < 0 ? [] : [{ path: [...path, key], text: key, namespace, name }]
  })
}

/** The namespace that a path of the API server reads; that of the object where the engine fills it in. */
function ofApiPath(text: string): string {
  const path = text.replace(/\{\{\s*request\.(?:namespace|object\.metadata\.namespace)\s*\}\}/g, '')
  const [, namespace] =
    /^\/(?:api\/v1|apis\/[a-z0-9.-]+\/v[a-z0-9]+)\/namespaces\/([a-z0-9-]*)(?:\/|$)/.exec(path) ?? []
  const isPlain = !/[%\\]|\.\.|\/\/(?!$)|\{\{/.test(path.replace('/namespaces//', '/namespaces/'))
  return namespace === undefined || !isPlain ? ANY_NAMESPACE : namespace
}

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

/** How a kind sends what a Secret holds to a receiver. */
interface Sending {
  /** Places as in READS. */
  readonly secrets: string
  /** Where the object names the receiver; without it the Secret does. */
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

/** Kinds whose objects have the content of Secrets sent to a receiver. */
export const sendingKinds: readonly string[] = Object.keys(SENDS)

/** The Secrets whose content an object has sent, and where it names the receiver. */
export function secretsSentBy(object: KubeObject): { readonly reads: readonly NameRead[]; readonly address?: Path } {
  const { apiVersion, kind } = idOf(object)
  const own = `${groupOf(apiVersion)}/${kind}`
  const sending = Object.hasOwn(SENDS, own) ? SENDS[own]! : undefined
  if (!sending) return { reads: [] }
  const reads = readsAt(object, sending.secrets).filter(one => one.kind === 'Secret')
  return { reads, ...(sending.address ? { address: sending.address.split('.') } : {}) }
}
