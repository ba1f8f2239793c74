import type { KubeConfigSetting } from '../../flux/apply-settings/apply-settings.ts'
import type { Json } from '../../kube/node.ts'
import type { ClusterClient } from '../client.ts'
import { stringAt } from '../json-at.ts'
import type { RemoteServer, TokenSettings } from '../remote-servers.ts'
import { keepKubeConfig, kubeConfigSecretOf, type OwnKubeConfig } from './keep-kubeconfig.ts'
import { readCertificates } from './read-certificates.ts'

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
