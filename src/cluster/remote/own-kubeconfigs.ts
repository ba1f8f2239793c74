import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { BailiwickError } from '../../base/errors.ts'
import type { KubeConfigSetting } from '../../flux/apply-settings.ts'
import type { Json } from '../../kube/node.ts'
import type { ClusterClient } from '../client.ts'
import { ClusterError, clusterError } from '../cluster-error.ts'
import type { RemoteServer, TokenSettings } from '../cluster-settings.ts'
import { mapAt, stringAt } from '../json.ts'

/** A reference to a kubeconfig, and the account that uses it. */
export interface NamedKubeConfig {
  readonly namespace: string
  readonly user: string
  readonly kubeConfig: KubeConfigSetting
}

interface Kept {
  readonly renewAt: number | undefined
  readonly resourceVersion: string
}

const LEAST_WAIT_MS = 10_000
const ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/

/** The kubeconfigs that the worker creates for accounts on a cluster, where the operator lists a server for them. */
export class OwnKubeConfigs {
  readonly #home: ClusterClient
  readonly #server: (RemoteServer & { readonly tokens: TokenSettings }) | undefined
  readonly #now: () => number
  readonly #kept = new Map<string, Kept>()
  /** resourceVersions of Secrets whose token the server rejected. */
  readonly #refused = new Map<string, string>()
  readonly #turns = new Map<string, Promise<unknown>>()

  constructor(home: ClusterClient, listed: readonly RemoteServer[], now: () => number = Date.now) {
    this.#home = home
    this.#server = listed.find(isForTokens)
    this.#now = now
  }

  /** Whether the worker creates any kubeconfigs. */
  get isOn(): boolean {
    return this.#server !== undefined
  }

  /** Returns the Secret, and creates or renews it if needed; undefined if the worker does not create this one. Throws like keepKubeConfig. */
  async keep(use: NamedKubeConfig): Promise<Json | undefined> {
    const wanted = this.#wanted(use)
    const server = this.#server
    if (wanted === undefined || server === undefined) return undefined
    const key = keyOf(wanted)
    // several Kustomizations may share an account, so calls for one account run in turn
    const turn = (this.#turns.get(key) ?? Promise.resolve()).then(() => this.#keep(key, wanted, server))
    const settled = turn.catch(() => {})
    this.#turns.set(key, settled)
    try {
      return await turn
    } finally {
      if (this.#turns.get(key) === settled) this.#turns.delete(key)
    }
  }

  /** Call this when the server rejects the token: the next call of `keep` requests a new one. */
  refuse(use: NamedKubeConfig): void {
    const wanted = this.#wanted(use)
    const kept = wanted && this.#kept.get(keyOf(wanted))
    if (wanted && kept) this.#refused.set(keyOf(wanted), kept.resourceVersion)
  }

  /** Whether the token must be renewed. */
  isDue(use: NamedKubeConfig): boolean {
    const wanted = this.#wanted(use)
    const renewAt = wanted && this.#kept.get(keyOf(wanted))?.renewAt
    return renewAt !== undefined && renewAt <= this.#now()
  }

  /** Drops state that none of these references uses. */
  retain(uses: readonly NamedKubeConfig[]): void {
    const used = new Set(
      uses.flatMap(use => {
        const wanted = this.#wanted(use)
        return wanted ? [keyOf(wanted)] : []
      }),
    )
    for (const known of [this.#kept, this.#refused])
      for (const key of known.keys()) if (!used.has(key)) known.delete(key)
  }

  /** Milliseconds until the next token is due; undefined if none is known. */
  nextInMs(): number | undefined {
    const times = [...this.#kept.values()].flatMap(({ renewAt }) => renewAt ?? [])
    // the current run renews tokens that are already due
    return times.length === 0 ? undefined : Math.max(LEAST_WAIT_MS, Math.min(...times) - this.#now())
  }

  async #keep(key: string, wanted: OwnKubeConfig, server: RemoteServer & { readonly tokens: TokenSettings }) {
    // a failure is retried like any other failure of the node
    this.#kept.delete(key)
    const refused = this.#refused.get(key)
    const options = { server, ca: readCertificates(server.ca), refused, now: this.#now() }
    const { secret, renewAt } = await keepKubeConfig(this.#home, wanted, options)
    this.#kept.set(key, { renewAt, resourceVersion: stringAt(secret, 'metadata', 'resourceVersion') })
    this.#refused.delete(key)
    return secret
  }

  /** Only the account's own Secret: its name follows Capsule's addon, and it is in the account's namespace. */
  #wanted({ namespace, user, kubeConfig: { kind, name, key } }: NamedKubeConfig): OwnKubeConfig | undefined {
    const [, home = '', account = ''] = ACCOUNT.exec(user) ?? []
    const isOwn = this.#server !== undefined && kind === 'Secret' && home === namespace && account !== ''
    return isOwn && name === kubeConfigSecretOf(account) ? { namespace, account, key } : undefined
  }
}

const keyOf = ({ namespace, account }: OwnKubeConfig): string => `${namespace}/${account}`

function isForTokens(server: RemoteServer): server is RemoteServer & { readonly tokens: TokenSettings } {
  return server.tokens !== undefined
}

/** A kubeconfig that the worker creates for an account: the Secret `<account>-kubeconfig` in the account's namespace. */
interface OwnKubeConfig {
  readonly namespace: string
  readonly account: string
  /** Key of the Secret. */
  readonly key: string
}

interface KeptKubeConfig {
  /** The current Secret. */
  readonly secret: Json
  /** When to renew its token, in ms since 1970; undefined for a Secret that the worker did not create. */
  readonly renewAt: number | undefined
}

interface KeepOptions {
  readonly server: RemoteServer & { readonly tokens: TokenSettings }
  /** CA certificates of the server. */
  readonly ca: string
  /** resourceVersion of a Secret whose token the server rejected. */
  readonly refused?: string | undefined
  readonly now: number
}

const MANAGED_BY = 'app.kubernetes.io/managed-by'
const MADE_FROM = 'bailiwick.dev/kubeconfig'
const EXPIRES_AT = 'bailiwick.dev/token-expires-at'
const RENEW_AT = 'bailiwick.dev/token-renew-at'
const FIELD_MANAGER = 'bailiwick'
/** Share of a token's lifetime after which it is renewed. */
const USED = 2 / 3
const TOKEN = /^[\x21-\x7e]{1,16384}$/

/** Name of the Secret; capsule-addon-fluxcd uses the same. */
const kubeConfigSecretOf = (account: string): string => `${account}-kubeconfig`

/**
 * Creates the kubeconfig of an account if it is missing, and renews it before its token expires. Acts **as that account**, which
 * needs the rights for it. The token is bound to the Secret (TokenRequest, boundObjectRef): the API server rejects it once the
 * Secret is gone. Does not change a Secret that the worker did not create. May be interrupted after any request; the next call
 * continues. Throws `cluster-forbidden` and similar errors, never with a token in a message.
 */
async function keepKubeConfig(
  home: ClusterClient,
  wanted: OwnKubeConfig,
  options: KeepOptions,
): Promise<KeptKubeConfig> {
  const { namespace, account, key } = wanted
  const actor = { user: `system:serviceaccount:${namespace}:${account}` }
  const name = kubeConfigSecretOf(account)
  const path = `/api/v1/namespaces/${namespace}/secrets/${name}`
  const found = await home.request(actor, 'GET', path)
  if (found.status !== 404) {
    if (!isOwn(found.body)) return { secret: found.body, renewAt: undefined }
    const renewAt = usableUntil(found.body, key, options)
    if (renewAt !== undefined) return { secret: found.body, renewAt }
  }

  const labels = { [MANAGED_BY]: 'bailiwick' }
  const apply = async (metadata: Json, more: { readonly [key: string]: Json } = {}) => {
    const body = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', ...more }
    const query = { fieldManager: FIELD_MANAGER, force: 'true' }
    const contentType = 'application/apply-patch+yaml'
    const answer = await home.request(actor, 'PATCH', path, { query, contentType, body })
    if (answer.status === 404) throw clusterError(home.name, 404, answer.body)
    return answer.body
  }
  // a token is bound to the uid of its Secret, so the Secret must exist first
  const empty = found.status === 404 ? await apply({ name, labels }) : found.body
  if (!isOwn(empty)) return { secret: empty, renewAt: undefined }
  const uid = stringAt(empty, 'metadata', 'uid')
  const { token, expiresAt } = await requestToken(home, wanted, { name, uid }, options.server.tokens)
  const renewAt = options.now + Math.floor((expiresAt - options.now) * USED)
  const annotations = {
    [MADE_FROM]: digestOf(options),
    [EXPIRES_AT]: new Date(expiresAt).toISOString(),
    [RENEW_AT]: new Date(renewAt).toISOString(),
  }
  const text = Buffer.from(kubeConfigText(options, token)).toString('base64')
  // other Kustomizations of the account may use another key
  const data = Object.fromEntries([...Object.keys(mapAt(empty, 'data')), kubeconfigKeyOf(key)].map(one => [one, text]))
  try {
    // the uid makes this fail if the Secret was replaced meanwhile, because the token would be invalid
    const secret = await apply({ name, uid, labels, annotations }, { data })
    return { secret, renewAt }
  } catch (error) {
    throw error instanceof ClusterError ? withoutText(error, `${namespace}/${name}`) : error
  }
}

/** Flux's default key. */
const kubeconfigKeyOf = (key: string): string => key || 'value'

/** Whether the worker created the Secret: it has our label, and either our annotation or no data yet. */
function isOwn(secret: Json): boolean {
  if (stringAt(secret, 'metadata', 'labels', MANAGED_BY) !== 'bailiwick') return false
  return (
    Object.keys(mapAt(secret, 'data')).length === 0 || stringAt(secret, 'metadata', 'annotations', MADE_FROM) !== ''
  )
}

/** When to renew the kubeconfig in a Secret; undefined: it must be created now. */
function usableUntil(secret: Json, key: string, options: KeepOptions): number | undefined {
  const { now, refused, server } = options
  const noted = (annotation: string) => stringAt(secret, 'metadata', 'annotations', annotation)
  const renewAt = Date.parse(noted(RENEW_AT))
  const isCurrent =
    noted(MADE_FROM) === digestOf(options) &&
    renewAt > now &&
    // an edited annotation cannot postpone the renewal beyond the token's lifetime
    renewAt <= now + server.tokens.lifetimeSeconds * 1000 &&
    stringAt(secret, 'data', kubeconfigKeyOf(key)) !== '' &&
    stringAt(secret, 'metadata', 'resourceVersion') !== refused
  return isCurrent ? renewAt : undefined
}

/** A digest of everything in a kubeconfig except the token: a new address, certificate or audience requires a new kubeconfig. */
function digestOf({ server: { server, serverName = '', tokens }, ca }: KeepOptions): string {
  const parts = [server, serverName, ca, tokens.audiences, tokens.lifetimeSeconds]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}

/** The same content as capsule-addon-fluxcd writes; JSON is valid YAML. */
function kubeConfigText({ server: { server, serverName }, ca }: KeepOptions, token: string): string {
  const cluster = {
    server,
    'certificate-authority-data': Buffer.from(ca).toString('base64'),
    ...(serverName === undefined ? {} : { 'tls-server-name': serverName }),
  }
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'default', cluster }],
    users: [{ name: 'default', user: { token } }],
    contexts: [{ name: 'default', context: { cluster: 'default', user: 'default', namespace: 'default' } }],
    'current-context': 'default',
  })
}

async function requestToken(
  home: ClusterClient,
  { namespace, account }: OwnKubeConfig,
  secret: { readonly name: string; readonly uid: string },
  { lifetimeSeconds, audiences }: TokenSettings,
): Promise<{ readonly token: string; readonly expiresAt: number }> {
  const spec = {
    expirationSeconds: lifetimeSeconds,
    boundObjectRef: { apiVersion: 'v1', kind: 'Secret', ...secret },
    ...(audiences.length === 0 ? {} : { audiences: [...audiences] }),
  }
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`
  const actor = { user: `system:serviceaccount:${namespace}:${account}` }
  const answer = await home.request(actor, 'POST', path, { body })
  const token = stringAt(answer.body, 'status', 'token')
  const expiresAt = Date.parse(stringAt(answer.body, 'status', 'expirationTimestamp'))
  if (answer.status !== 404 && TOKEN.test(token) && Number.isFinite(expiresAt)) return { token, expiresAt }
  const what = answer.status === 404 ? 'does not exist' : 'got no token from the API server'
  throw new BailiwickError('cluster-invalid', `ServiceAccount ${namespace}/${account}: ${what}`, {
    fix: 'Create the ServiceAccount before the Kustomization that names its kubeconfig.',
  })
}

/** Drops the server's message: the request contained a token, and a webhook may quote it. */
function withoutText({ code, refusal }: ClusterError, where: string): BailiwickError {
  const { status, reason } = refusal
  const refused =
    status === 403 ? 'The account needs the right to patch it' : 'The answer is not shown: it may hold the token'
  return new BailiwickError(code, `Secret ${where}: not written: HTTP status ${status} ${reason}. ${refused}`)
}

/** The certificates in a file of the operator. Throws `not-permitted` where it holds none: the system's would count then. */
export function readCertificates(file: string): string {
  const fix = 'Correct `ca` under `kubeConfigs` in clusters.yaml.'
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw new BailiwickError('not-permitted', `the certificates ${file} cannot be read`, { cause, fix })
  }
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  throw new BailiwickError('not-permitted', `${file} holds no certificate`, { fix })
}
