import { dirname, resolve } from 'node:path'
import { apiServerAddress } from './api-server-address.ts'
import { onlyKeys, settingsMap, settingsText, wrongSetting } from './settings-map.ts'

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
