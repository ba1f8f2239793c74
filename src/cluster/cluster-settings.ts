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
const LIFETIME = [1800, 604_800] as const
const USUAL_LIFETIME = 86_400
const MAX_AUDIENCES = 10
const AUDIENCE = /^[\x21-\x7e]{1,1000}$/
const BEHIND = /^ -> kubeconfig (?:ConfigMap\/)?[\w.?-]{1,253}(?:\/[\w.?-]{1,253}){1,2}$/
const HOST_NAME = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/

/**
 * `kubeConfigs` of one cluster in clusters.yaml. Throws `config` for anything else than the API servers of this cluster, or
 * of clusters that are evaluated behind it, each as one of both.
 */
export function readRemoteServers(binding: Settings, cluster: string): RemoteServer[] {
  const list = binding.list('kubeConfigs')
  const servers = list.map(one => readServer(one, cluster))
  for (const [index, one] of servers.entries()) {
    const isOwn = ({ cluster: as }: RemoteServer) => as === cluster
    const before = servers.slice(0, index).filter(other => other.server === one.server)
    if (before.some(other => isOwn(other) !== isOwn(one) || other.cluster === one.cluster))
      throw list[index]!.wrong('server', `${one.server} is listed twice`)
    if (one.tokens && servers.findIndex(other => other.tokens) !== index)
      throw list[index]!.wrong('tokens', 'is set for a second server. Allowed: one server for each cluster')
  }
  return servers
}

function readServer(one: Settings, own: string): RemoteServer {
  one.only(KEYS)
  const server = apiServerAddress(one.text('server'))
  if (server === undefined) throw one.wrong('server', 'is not an https address without user, query and fragment')
  const cluster = one.text('cluster')
  if (cluster !== own && !(cluster.startsWith(own) && BEHIND.test(cluster.slice(own.length)))) {
    const allowed = `Allowed: ${own}, or "${own} -> kubeconfig <namespace>/<name>" as verdicts name it`
    throw one.wrong('cluster', `${JSON.stringify(cluster)} is not evaluated as part of ${own}. ${allowed}`)
  }
  const ca = one.path('ca')
  const tokens = one.has('tokens') ? { tokens: readTokens(one) } : {}
  if (tokens.tokens && cluster !== own)
    throw one.wrong('tokens', `is set for ${cluster}. Allowed: a server of ${own} itself, which knows its accounts`)
  if (!one.has('serverName')) return { server, cluster, ca, ...tokens }
  const serverName = one.text('serverName')
  if (!HOST_NAME.test(serverName)) throw one.wrong('serverName', 'is not a host name in lower case')
  return { server, cluster, ca, serverName, ...tokens }
}

/** `tokens: {}` means all defaults. */
function readTokens(server: Settings): TokenSettings {
  const tokens = new Settings(server.value('tokens'), server.file, `${server.at}.tokens`)
  tokens.only(['lifetime', 'audiences'])
  const lifetimeSeconds = tokens.wholeNumber('lifetime', LIFETIME, 'of seconds ') ?? USUAL_LIFETIME
  const audiences: unknown = tokens.value('audiences') ?? []
  const isAudience = (one: unknown): one is string => typeof one === 'string' && AUDIENCE.test(one)
  if (!Array.isArray(audiences) || audiences.length > MAX_AUDIENCES || !audiences.every(isAudience))
    throw tokens.wrong('audiences', `is not a list of at most ${MAX_AUDIENCES} texts without spaces`)
  return { lifetimeSeconds, audiences }
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
export function readKmsKeys(binding: Settings): KmsKey[] {
  const list = binding.list('kmsKeys')
  const keys = list.map(readKey)
  for (const [index, { key, service }] of keys.entries()) {
    if (keys.findIndex(other => other.key === key && other.service === service) !== index)
      throw list[index]!.wrong('key', `${key} is listed twice`)
  }
  return keys
}

function readKey(one: Settings): KmsKey {
  const provider = one.text('provider')
  const service = KEY_SERVICES.find(known => known === provider)
  if (service === undefined) throw one.wrong('provider', `${provider} is not one of ${KEY_SERVICES.join(', ')}`)
  const form = FORMS[service]
  one.only(['provider', 'key', 'namespaces', ...form.fields])
  const key = one.text('key')
  if (!form.key.test(key)) throw one.wrong('key', `is not one exact key. Allowed: ${form.example}`)
  const namespaces = one.value('namespaces')
  if (!Array.isArray(namespaces) || namespaces.length === 0 || !namespaces.every(isNamespace))
    throw one.wrong('namespaces', 'is not a list of names of namespaces')
  return { service, key, namespaces, credentials: readCredentials(one, service) }
}

const isNamespace = (value: unknown): value is string => typeof value === 'string' && NAMESPACE.test(value)

function readCredentials(key: Settings, service: KeyService): KmsCredentials {
  const text = (name: string, form: RegExp, what: string) => {
    const value = key.text(name)
    if (!form.test(value)) throw key.wrong(name, `is not ${what}`)
    return value
  }
  const one = (...names: string[]) => {
    if (names.filter(name => key.has(name)).length !== 1)
      throw key.wrong('', `needs exactly one of ${names.join(' and ')}`)
  }
  switch (service) {
    case 'aws':
      one('credentialsFile', 'tokenFile')
      if (key.has('role') !== key.has('tokenFile')) throw key.wrong('', 'needs `role` and `tokenFile` together')
      if (key.has('credentialsFile')) return { type: 'file', file: key.path('credentialsFile') }
      return { type: 'web-identity', role: text('role', ROLE, 'the ARN of a role'), tokenFile: key.path('tokenFile') }
    case 'gcp':
      one('credentialsFile', 'metadataServer')
      if (key.has('credentialsFile')) return { type: 'file', file: key.path('credentialsFile') }
      if (key.value('metadataServer') !== true) throw key.wrong('metadataServer', 'is not true')
      return { type: 'metadata' }
    case 'vault':
      return { type: 'file', file: key.path('tokenFile') }
    case 'azure':
      one('clientSecretFile', 'federatedTokenFile')
      return {
        type: 'azure',
        tenantId: text('tenantId', UUID, 'the id of a tenant'),
        clientId: text('clientId', UUID, 'the id of a client'),
        ...(key.has('clientSecretFile')
          ? { clientSecretFile: key.path('clientSecretFile') }
          : { federatedTokenFile: key.path('federatedTokenFile') }),
      }
  }
}

/** A map of clusters.yaml and where it stands. Every method throws `config` naming file and key for what is not allowed. */
export class Settings {
  readonly file: string
  readonly at: string
  readonly #map: ReadonlyMap<string, unknown>

  /** `at`: '' for the file itself. */
  constructor(value: unknown, file: string, at: string) {
    this.file = file
    this.at = at
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw wrongSetting(file, at || 'the file', 'is not a map')
    this.#map = new Map(Object.entries(value))
  }

  has(key: string): boolean {
    return this.#map.has(key)
  }

  keys(): readonly string[] {
    return [...this.#map.keys()]
  }

  value(key: string): unknown {
    return this.#map.get(key)
  }

  /** Refuses every key that is neither allowed nor left alone. */
  only(allowed: readonly string[], alone: readonly string[] = []): void {
    for (const key of this.#map.keys()) {
      if (allowed.includes(key) || alone.includes(key)) continue
      const meant = probably(key, allowed)
      const what = `is an unknown key. Allowed: ${allowed.join(', ')}`
      throw this.wrong(visible(key, 100), what, meant && `Did you mean ${meant}?`)
    }
  }

  /** A text that is neither empty nor surrounded by spaces. */
  text(key: string, fallback?: string): string {
    const value = this.#map.get(key) ?? fallback
    if (typeof value === 'string' && value !== '' && value.trim() === value) return value
    throw this.wrong(key, value === undefined ? 'is missing' : 'is not a string')
  }

  /** The absolute path of a file that is relative to this one. */
  path(key: string): string {
    return resolve(dirname(this.file), this.text(key))
  }

  wholeNumber(key: string, [least, most]: readonly [number, number], unit = ''): number | undefined {
    const value = this.#map.get(key)
    if (value === undefined) return undefined
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
    throw this.wrong(key, `${String(value)} is not a whole number ${unit}from ${least} to ${most}`)
  }

  /** The maps of a list. */
  list(key: string): Settings[] {
    const value = this.#map.get(key)
    if (!Array.isArray(value)) throw this.wrong(key, 'is not a list')
    return value.map((item: unknown, index) => new Settings(item, this.file, `${this.#placeOf(key)}[${index}]`))
  }

  /** The error for a key; '' is the map itself. */
  wrong(key: string, what: string, fix?: string): BailiwickError {
    return wrongSetting(this.file, this.#placeOf(key), what, fix)
  }

  #placeOf(key: string): string {
    return [this.at, key].filter(part => part !== '').join('.')
  }
}

function wrongSetting(file: string, at: string, what: string, fix = `Correct ${at} in ${file}.`): BailiwickError {
  return new BailiwickError('config', `${file}: ${at} ${what}`, { fix })
}
