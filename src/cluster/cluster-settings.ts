import { dirname, resolve } from 'node:path'
import { BailiwickError } from '../base/errors.ts'
import { probably } from '../base/name-list.ts'
import { visible } from '../base/visible.ts'
import { KEY_SERVICES, type KeyService, type KmsCredentials, type KmsKey } from '../kube/sops.ts'

/** An API server that the kubeconfigs of a cluster's Kustomizations may lead to. */
export interface RemoteServer {
  /** Its exact address, see apiServerAddress. */
  readonly server: string
  /**
   * The cluster as which it is evaluated: the cluster itself (an address of its own API server, as Capsule's proxy), or
   * `<cluster> -> kubeconfig <namespace>/<name>`, as verdicts name the cluster behind a kubeconfig.
   */
  readonly cluster: string
  /** Absolute path of the certificates by which it is trusted. */
  readonly ca: string
  /** Name in its certificate, where that is not the host. */
  readonly serverName?: string
  /** Settings for kubeconfigs that the worker creates for accounts on this server; absent if the worker creates none. */
  readonly tokens?: TokenSettings
}

/** The tokens that the worker requests. */
export interface TokenSettings {
  readonly lifetimeSeconds: number
  /** Empty: the API server's default audiences. */
  readonly audiences: readonly string[]
}

const KEYS = ['server', 'cluster', 'ca', 'serverName', 'tokens']
/** The API server issues no token for less than ten minutes, and one run may take that long. */
const LIFETIME = { least: 1800, usual: 86_400, most: 604_800 }
const MAX_AUDIENCES = 10
const AUDIENCE = /^[\x21-\x7e]{1,1000}$/
const BEHIND = /^ -> kubeconfig (?:ConfigMap\/)?[\w.?-]{1,253}(?:\/[\w.?-]{1,253}){1,2}$/
const HOST_NAME = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/

/**
 * `kubeConfigs` of one cluster in clusters.yaml. Throws `config` for anything else than the API servers of this cluster, or
 * of clusters that are evaluated behind it, each as one of both.
 */
export function readRemoteServers(value: unknown, cluster: string, at: string, file: string): RemoteServer[] {
  if (!Array.isArray(value)) throw wrongSetting(file, at, 'is not a list')
  const servers = value.map((item: unknown, index) => readServer(item, cluster, `${at}[${index}]`, file))
  for (const [index, one] of servers.entries()) {
    const isOwn = ({ cluster: as }: RemoteServer) => as === cluster
    const before = servers.slice(0, index).filter(other => other.server === one.server)
    if (before.some(other => isOwn(other) !== isOwn(one) || other.cluster === one.cluster))
      throw wrongSetting(file, `${at}[${index}].server`, `${one.server} is listed twice`)
    if (one.tokens && servers.findIndex(other => other.tokens) !== index)
      throw wrongSetting(
        file,
        `${at}[${index}].tokens`,
        'is set for a second server. Allowed: one server for each cluster',
      )
  }
  return servers
}

function readServer(item: unknown, own: string, at: string, file: string): RemoteServer {
  const map = settingsMap(item, file, at)
  onlyKeys(map, KEYS, file, `${at}.`)
  const written = settingsText(map, 'server', { file, at })
  const server = apiServerAddress(written)
  if (server === undefined)
    throw wrongSetting(file, `${at}.server`, 'is not an https address without user, query and fragment')
  const cluster = settingsText(map, 'cluster', { file, at })
  if (cluster !== own && !(cluster.startsWith(own) && BEHIND.test(cluster.slice(own.length)))) {
    const allowed = `Allowed: ${own}, or "${own} -> kubeconfig <namespace>/<name>" as verdicts name it`
    throw wrongSetting(
      file,
      `${at}.cluster`,
      `${JSON.stringify(cluster)} is not evaluated as part of ${own}. ${allowed}`,
    )
  }
  const ca = resolve(dirname(file), settingsText(map, 'ca', { file, at }))
  const tokens = map.has('tokens') ? { tokens: readTokens(map.get('tokens'), `${at}.tokens`, file) } : {}
  if (tokens.tokens && cluster !== own)
    throw wrongSetting(
      file,
      `${at}.tokens`,
      `is set for ${cluster}. Allowed: a server of ${own} itself, which knows its accounts`,
    )
  if (!map.has('serverName')) return { server, cluster, ca, ...tokens }
  const serverName = settingsText(map, 'serverName', { file, at })
  if (!HOST_NAME.test(serverName)) throw wrongSetting(file, `${at}.serverName`, 'is not a host name in lower case')
  return { server, cluster, ca, serverName, ...tokens }
}

/** `tokens: {}` means all defaults. */
function readTokens(value: unknown, at: string, file: string): TokenSettings {
  const map = settingsMap(value, file, at)
  onlyKeys(map, ['lifetime', 'audiences'], file, `${at}.`)
  const lifetime = map.get('lifetime') ?? LIFETIME.usual
  const { least, most } = LIFETIME
  if (!Number.isInteger(lifetime) || Number(lifetime) < least || Number(lifetime) > most)
    throw wrongSetting(file, `${at}.lifetime`, `is not a whole number of seconds from ${least} to ${most}`)
  const audiences: unknown = map.get('audiences') ?? []
  const isAudience = (one: unknown): one is string => typeof one === 'string' && AUDIENCE.test(one)
  if (!Array.isArray(audiences) || audiences.length > MAX_AUDIENCES || !audiences.every(isAudience))
    throw wrongSetting(file, `${at}.audiences`, `is not a list of at most ${MAX_AUDIENCES} texts without spaces`)
  return { lifetimeSeconds: Number(lifetime), audiences }
}

const HTTPS = /^https:\/\/[^/?#\\@\s]+(?:\/[^?#\\\s]*)?$/i

/**
 * The one spelling of an API server's address: origin and path, without a slash at the end. Undefined for what is not
 * https, names a user, or has a query or fragment.
 */
export function apiServerAddress(text: string): string | undefined {
  const url = HTTPS.test(text) ? URL.parse(text) : null
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return undefined
  if (url.search !== '' || url.hash !== '') return undefined
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

interface KeyForm {
  readonly key: RegExp
  readonly example: string
  /** Keys beside `provider`, `key` and `namespaces`. */
  readonly fields: readonly string[]
}

const ARN =
  /^arn:(?:aws:kms:(?!cn-)|aws-us-gov:kms:(?=us-gov-)|aws-cn:kms:(?=cn-))[a-z]{2}(?:-[a-z]{1,12}){1,3}-\d{1,2}:\d{12}:(?:key\/[A-Za-z0-9-]{1,128}|alias\/[A-Za-z0-9/_-]{1,250})$/
const ROLE = /^arn:aws(?:-cn|-us-gov)?:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

const FORMS: Readonly<Record<KeyService, KeyForm>> = {
  aws: {
    key: ARN,
    example: 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab',
    fields: ['credentialsFile', 'role', 'tokenFile'],
  },
  gcp: {
    key: /^projects\/[a-z0-9.:-]{1,100}\/locations\/[a-z0-9-]{1,63}\/keyRings\/[\w-]{1,63}\/cryptoKeys\/[\w-]{1,63}$/,
    example: 'projects/acme/locations/europe-west1/keyRings/sops/cryptoKeys/apps',
    fields: ['credentialsFile', 'metadataServer'],
  },
  vault: {
    key: /^https:\/\/[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::[1-9]\d{0,4})?\/v1\/(?:(?!\.)[\w.-]{1,100}\/){1,8}keys\/(?!\.)[\w.-]{1,100}$/,
    example: 'https://vault.example.com:8200/v1/sops/keys/apps',
    fields: ['tokenFile'],
  },
  azure: {
    key: /^https:\/\/[a-z][a-z0-9-]{1,22}[a-z0-9]\.vault\.(?:azure\.net|azure\.cn|usgovcloudapi\.net)\/keys\/[A-Za-z0-9-]{1,127}(?:\/[0-9a-f]{32})?$/,
    example: 'https://acme.vault.azure.net/keys/apps, with or without a version',
    fields: ['tenantId', 'clientId', 'clientSecretFile', 'federatedTokenFile'],
  },
}

/** Reads `kmsKeys` of one cluster in clusters.yaml. Throws `config`, naming the key, for anything that is not exact. */
export function readKmsKeys(value: unknown, at: string, file: string): KmsKey[] {
  if (!Array.isArray(value)) throw wrongSetting(file, at, 'is not a list')
  const keys = value.map((item: unknown, index) => readKey(item, `${at}[${index}]`, file))
  for (const [index, { key, service }] of keys.entries()) {
    if (keys.findIndex(other => other.key === key && other.service === service) !== index)
      throw wrongSetting(file, `${at}[${index}].key`, `${key} is listed twice`)
  }
  return keys
}

function readKey(item: unknown, at: string, file: string): KmsKey {
  const map = settingsMap(item, file, at)
  const provider = settingsText(map, 'provider', { file, at })
  const service = KEY_SERVICES.find(one => one === provider)
  if (service === undefined)
    throw wrongSetting(file, `${at}.provider`, `${provider} is not one of ${KEY_SERVICES.join(', ')}`)
  const form = FORMS[service]
  onlyKeys(map, ['provider', 'key', 'namespaces', ...form.fields], file, `${at}.`)
  const key = settingsText(map, 'key', { file, at })
  if (!form.key.test(key)) throw wrongSetting(file, `${at}.key`, `is not one exact key. Allowed: ${form.example}`)
  const namespaces: unknown = map.get('namespaces')
  if (!Array.isArray(namespaces) || namespaces.length === 0 || !namespaces.every(isNamespace))
    throw wrongSetting(file, `${at}.namespaces`, 'is not a list of names of namespaces')
  return { service, key, namespaces, credentials: readCredentials(map, service, at, file) }
}

const isNamespace = (value: unknown): value is string => typeof value === 'string' && NAMESPACE.test(value)

function readCredentials(
  map: ReadonlyMap<string, unknown>,
  service: KeyService,
  at: string,
  file: string,
): KmsCredentials {
  const path = (name: string) => resolve(dirname(file), settingsText(map, name, { file, at }))
  const text = (name: string, form: RegExp, what: string) => {
    const value = settingsText(map, name, { file, at })
    if (!form.test(value)) throw wrongSetting(file, `${at}.${name}`, `is not ${what}`)
    return value
  }
  const has = (name: string) => map.has(name)
  const one = (...names: string[]) => {
    if (names.filter(has).length !== 1) throw wrongSetting(file, at, `needs exactly one of ${names.join(' and ')}`)
  }
  switch (service) {
    case 'aws':
      one('credentialsFile', 'tokenFile')
      if (has('role') !== has('tokenFile')) throw wrongSetting(file, at, 'needs `role` and `tokenFile` together')
      if (has('credentialsFile')) return { type: 'file', file: path('credentialsFile') }
      return { type: 'web-identity', role: text('role', ROLE, 'the ARN of a role'), tokenFile: path('tokenFile') }
    case 'gcp':
      one('credentialsFile', 'metadataServer')
      if (has('credentialsFile')) return { type: 'file', file: path('credentialsFile') }
      if (map.get('metadataServer') !== true) throw wrongSetting(file, `${at}.metadataServer`, 'is not true')
      return { type: 'metadata' }
    case 'vault':
      return { type: 'file', file: path('tokenFile') }
    case 'azure':
      one('clientSecretFile', 'federatedTokenFile')
      return {
        type: 'azure',
        tenantId: text('tenantId', UUID, 'the id of a tenant'),
        clientId: text('clientId', UUID, 'the id of a client'),
        ...(has('clientSecretFile')
          ? { clientSecretFile: path('clientSecretFile') }
          : { federatedTokenFile: path('federatedTokenFile') }),
      }
  }
}

/** A value of clusters.yaml as a map. Throws `config` naming file and key. */
export function settingsMap(value: unknown, file: string, at: string): Map<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return new Map(Object.entries(value))
  throw wrongSetting(file, at, 'is not a map')
}

/** Throws `config` for a key that is not allowed. */
export function onlyKeys(
  map: ReadonlyMap<string, unknown>,
  allowed: readonly string[],
  file: string,
  prefix: string,
): void {
  for (const key of map.keys()) {
    if (allowed.includes(key)) continue
    const meant = probably(key, allowed)
    const what = `is an unknown key. Allowed: ${allowed.join(', ')}`
    throw wrongSetting(file, `${prefix}${visible(key, 100)}`, what, meant && `Did you mean ${meant}?`)
  }
}

/** A text of the map that is neither empty nor surrounded by spaces. Throws `config` for anything else. */
export function settingsText(
  map: ReadonlyMap<string, unknown>,
  key: string,
  { file, at, fallback }: { readonly file: string; readonly at: string; readonly fallback?: string | undefined },
): string {
  const value = map.get(key) ?? fallback
  if (typeof value === 'string' && value !== '' && value.trim() === value) return value
  throw wrongSetting(file, `${at}.${key}`, value === undefined ? 'is missing' : 'is not a string')
}

/** The error for a key of clusters.yaml. */
export function wrongSetting(
  file: string,
  key: string,
  what: string,
  fix = `Correct ${key} in ${file}.`,
): BailiwickError {
  return new BailiwickError('config', `${file}: ${key} ${what}`, { fix })
}
