import { readFileSync } from 'node:fs'
import type { RequestOptions } from 'node:https'
import { dirname, resolve } from 'node:path'
import type { KubeConfig } from '@kubernetes/client-node'
import { parse } from 'yaml'
import { BailiwickError } from '../base/errors.ts'
import type { ClusterBinding } from './clusters-file.ts'

const REFRESH_MS = 30_000
const UNUSABLE_TOKEN = 'the token holds a line break or other characters that no token has'

/** What a request needs to reach the API server as the worker. */
export interface RequestCredentials {
  readonly headers: Readonly<Record<string, string>>
  readonly tls: Pick<RequestOptions, 'ca' | 'cert' | 'key' | 'servername'>
}

interface Credentials {
  readonly server: URL
  /** Read again after 30 s, or at once when `renew` is set: tokens and certificates rotate. */
  access(renew?: boolean): Promise<RequestCredentials>
}

/**
 * Credentials of the operator's kubeconfig, or of the pod where it names none. Throws `config` for a kubeconfig that
 * cannot be read, for plain http, switched-off certificate checks, an impersonated user and a proxy: each would
 * change silently where requests go or as whom.
 */
export async function readCredentials(binding: ClusterBinding): Promise<Credentials> {
  const config = await load(binding)
  const cluster = config.getCurrentCluster()
  const user = config.getCurrentUser()
  if (!cluster || !user) throw wrong(binding, `context ${config.getCurrentContext()} names no known cluster and user`)
  if (!cluster.server.startsWith('https://')) throw wrong(binding, `the server ${cluster.server} is not https`)
  if (cluster.skipTLSVerify) throw wrong(binding, 'insecure-skip-tls-verify is set; give the certificate-authority')
  if (cluster.proxyUrl) throw wrong(binding, 'proxy-url is not supported')
  if (user.impersonateUser) throw wrong(binding, 'the user has `as`; the worker decides whom it impersonates')
  if (user.username) throw wrong(binding, 'username and password are not supported; use a token or a certificate')

  let access: RequestCredentials | undefined
  let readAt = 0
  return {
    server: new URL(cluster.server),
    async access(renew = false) {
      if (access && !renew && Date.now() - readAt < REFRESH_MS) return access
      access = await readAccess(binding, config)
      readAt = Date.now()
      return access
    },
  }
}

async function load(binding: ClusterBinding): Promise<KubeConfig> {
  const { KubeConfig } = await import('@kubernetes/client-node') // 880 exports: a second that only a worker should pay
  const config = new KubeConfig()
  if (binding.kubeconfig === undefined) {
    if (!process.env.KUBERNETES_SERVICE_HOST) {
      throw wrong(binding, 'no kubeconfig is named and this process is not in a cluster')
    }
    config.loadFromCluster()
    return config
  }
  let file: string | undefined
  try {
    config.loadFromFile(binding.kubeconfig)
    if (binding.context !== undefined) config.setCurrentContext(binding.context)
    file = tokenFileOf(binding.kubeconfig, config.getCurrentUser()?.name)
  } catch (cause) {
    throw wrong(binding, whyUnreadable(cause))
  }
  const user = config.getCurrentUser()
  if (user && file !== undefined)
    Object.assign(user, { authProvider: { name: 'tokenFile', config: { tokenFile: file } } })
  return config
}

/** Parsers of YAML quote the lines around a mistake, and in a kubeconfig these hold tokens and keys: only the line number is kept. */
function whyUnreadable(cause: unknown): string {
  const { code, syscall } = cause as NodeJS.ErrnoException
  if (syscall !== undefined) return code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`
  const { mark, linePos } = cause as { mark?: { line?: unknown }; linePos?: readonly { line?: unknown }[] }
  const line = typeof mark?.line === 'number' ? mark.line + 1 : linePos?.[0]?.line
  return `is not a valid kubeconfig${typeof line === 'number' ? `, at line ${line}` : ''}`
}

async function readAccess(binding: ClusterBinding, config: KubeConfig): Promise<RequestCredentials> {
  const options: RequestOptions = {}
  const file: unknown = config.getCurrentUser()?.authProvider?.config?.tokenFile
  let authorization: string | null
  try {
    await config.applyToHTTPSOptions(options)
    const given = new Headers(options.headers as Record<string, string>).get('authorization')
    authorization = typeof file === 'string' ? `Bearer ${readToken(binding, file)}` : given
  } catch (cause) {
    if (cause instanceof BailiwickError) throw cause
    // a TypeError quotes the header that it refuses, and with it the token
    if (cause instanceof TypeError) throw wrong(binding, UNUSABLE_TOKEN)
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new BailiwickError('cluster-unavailable', `cluster ${binding.name}: no credentials: ${reason}`, { cause })
  }
  if (authorization !== null && !/^[\x20-\x7e]*$/.test(authorization)) throw wrong(binding, UNUSABLE_TOKEN)
  const { ca, cert, key, servername } = options
  const tls = Object.fromEntries(Object.entries({ ca, cert, key, servername }).filter(([, value]) => value))
  return { headers: authorization ? { Authorization: authorization } : {}, tls }
}

/** Read anew each time: the kubelet replaces the token before it ends. */
function readToken({ name }: ClusterBinding, file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new BailiwickError('cluster-unavailable', `cluster ${name}: no credentials: ${reason}`, { cause })
  }
}

/** `tokenFile` of a user of a kubeconfig, which the client library does not read; relative to the kubeconfig. */
function tokenFileOf(kubeconfig: string, user: string | undefined): string | undefined {
  const root: unknown = parse(readFileSync(kubeconfig, 'utf8'))
  const users: unknown = root !== null && typeof root === 'object' && 'users' in root ? root.users : []
  for (const one of Array.isArray(users) ? users : []) {
    const file: unknown = one?.name === user ? one?.user?.tokenFile : undefined
    if (typeof file === 'string' && file !== '') return resolve(dirname(kubeconfig), file)
  }
  return undefined
}

function wrong({ name, kubeconfig }: ClusterBinding, what: string): BailiwickError {
  const where = kubeconfig ?? "the pod's service account"
  return new BailiwickError('config', `cluster ${name}, ${where}: ${what}`, {
    fix: 'Correct the kubeconfig, or `kubeconfig` and `context` of this cluster in clusters.yaml.',
  })
}
