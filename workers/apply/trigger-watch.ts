import { BailiwickError } from '../../src/base/errors.ts'
import type { ApiResource, ClusterClient } from '../../src/cluster/client.ts'
import { ClusterError } from '../../src/cluster/cluster-error.ts'
import { stringAt } from '../../src/cluster/json.ts'
import { requestedAt } from '../../src/cluster/status/kustomization-status.ts'
import { watchKind } from '../../src/cluster/watch-kind.ts'
import { KUSTOMIZE_GROUP } from '../../src/kube/flux-kinds.ts'
import type { Json } from '../../src/kube/node.ts'
import type { EvaluatedNode } from '../../src/rules/model/finding.ts'

/** The default of kustomize-controller's --watch-configs-label-selector. */
const WATCHED = 'reconcile.fluxcd.io/watch=Enabled'
const KUSTOMIZATIONS: ApiResource = {
  apiVersion: `${KUSTOMIZE_GROUP}/v1`,
  kind: 'Kustomization',
  plural: 'kustomizations',
  namespaced: true,
}
const CONFIGS: readonly ApiResource[] = [
  { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
  { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true },
]
/** How many namespaces are watched separately if the worker may not watch a kind as a whole. */
const MAX_NAMESPACES = 64
const REFUSED_MS = 600_000

type Needing = Pick<EvaluatedNode, 'key' | 'namespace' | 'name' | 'user' | 'needs' | 'decryption' | 'settings'>

/** In which namespace a kind is watched, and as whom. */
type Which = NonNullable<Parameters<typeof watchKind>[4]>

interface TriggerListener {
  /** A reconciliation of a node was requested. */
  readonly requested: (node: string) => void
  /** A ConfigMap or Secret that a node needs was changed. */
  readonly configured: (node: string) => void
  readonly unwatched: (what: string, error: BailiwickError) => void
}

/**
 * Watches the triggers of an immediate reconciliation, as kustomize-controller does: the annotation
 * `reconcile.fluxcd.io/requestedAt`, and changes of labeled ConfigMaps and Secrets that Kustomizations name in
 * substituteFrom, decryption and kubeConfig. Metadata only. What the worker may not watch as itself is watched in the
 * namespaces that need it, as the account of a node there.
 */
export class TriggerWatch {
  readonly #client: ClusterClient
  readonly #listener: TriggerListener
  readonly #watches = new Map<string, { readonly abort: AbortController; readonly done: Promise<void> }>()
  readonly #refused = new Map<string, number>()
  #nodes = new Map<string, string>()
  /** Keys of nodes by what they need: `<kind>/<namespace>/<name>`. */
  #needed = new Map<string, string[]>()
  /** An account for each namespace that needs a kind. */
  #accounts = new Map<string, Map<string, string>>()
  #isClosed = false

  constructor(client: ClusterClient, listener: TriggerListener) {
    this.#client = client
    this.#listener = listener
  }

  /** Sets all nodes of the cluster. */
  settle(nodes: readonly Needing[]): void {
    this.#nodes = new Map(nodes.map(({ key, namespace, name }) => [`${namespace}/${name}`, key]))
    this.#needed = new Map()
    this.#accounts = new Map()
    for (const node of nodes) {
      for (const { kind, name } of needsOf(node)) {
        const id = `${kind}/${node.namespace}/${name}`
        this.#needed.set(id, [...(this.#needed.get(id) ?? []), node.key])
        this.#accounts.set(kind, (this.#accounts.get(kind) ?? new Map()).set(node.namespace, node.user))
      }
    }
    this.#start()
  }

  #start(): void {
    if (this.#isClosed) return
    const wanted = new Set<string>()
    this.#want(wanted, 'Kustomization', signal => this.#followRequests(signal))
    for (const resource of CONFIGS) {
      const accounts = this.#accounts.get(resource.kind)
      if (!accounts) continue
      this.#want(wanted, resource.kind, signal => this.#followConfigs(resource, signal))
      if (!this.#isRefused(resource.kind)) continue
      if (accounts.size > MAX_NAMESPACES && !this.#isRefused(`${resource.kind} elsewhere`)) {
        const what = `${accounts.size - MAX_NAMESPACES} namespaces are not watched for changes of a ${resource.kind}`
        const fix = `Let the worker list and watch every ${resource.kind}.`
        this.#refuse(`${resource.kind} elsewhere`, new BailiwickError('cluster-forbidden', what, { fix }))
      }
      for (const [namespace, user] of [...accounts].slice(0, MAX_NAMESPACES)) {
        const which = { namespace, actor: { user } }
        this.#want(wanted, `${resource.kind} in ${namespace}`, signal => this.#followConfigs(resource, signal, which))
      }
    }
    for (const [name, { abort }] of this.#watches) if (!wanted.has(name)) abort.abort()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const watches = [...this.#watches.values()]
    for (const { abort } of watches) abort.abort()
    await Promise.all(watches.map(({ done }) => done))
  }

  #isRefused(name: string): boolean {
    return (this.#refused.get(name) ?? 0) > Date.now()
  }

  #refuse(name: string, error: BailiwickError): void {
    // a kind that is refused as a whole is watched by namespace; without Flux there is nothing to ask for
    const isExpected =
      CONFIGS.some(({ kind }) => kind === name) || (error instanceof ClusterError && error.status === 404)
    if (!isExpected && !this.#refused.has(name)) this.#listener.unwatched(name, error)
    this.#refused.set(name, Date.now() + REFUSED_MS)
  }

  #want(wanted: Set<string>, name: string, follow: (signal: AbortSignal) => Promise<void>): void {
    wanted.add(name)
    if (this.#watches.has(name) || this.#isRefused(name)) return
    const abort = new AbortController()
    const done = follow(abort.signal)
      .catch((error: unknown) => {
        const known = error instanceof BailiwickError ? error : new BailiwickError('internal', String(error))
        this.#refuse(name, known)
      })
      .finally(() => {
        this.#watches.delete(name)
        // where the whole kind is refused, its namespaces are watched
        if (this.#isRefused(name)) this.#start()
      })
    this.#watches.set(name, { abort, done })
  }

  async #followRequests(signal: AbortSignal): Promise<void> {
    const seen = new Map<string, string>()
    await this.#follow(KUSTOMIZATIONS, signal, {}, (object, at, gone) => {
      const before = seen.get(at)
      const requested = gone ? '' : requestedAt(object)
      if (requested === '') seen.delete(at)
      else seen.set(at, requested)
      const node = this.#nodes.get(at)
      // an annotation from before the watch may be answered already: the listener checks that
      if (node !== undefined && requested !== '' && requested !== before) this.#listener.requested(node)
    })
  }

  async #followConfigs(resource: ApiResource, signal: AbortSignal, which: Which = {}): Promise<void> {
    const seen = new Map<string, string>()
    let isFirst = true
    await this.#follow(
      resource,
      signal,
      { ...which, labelSelector: WATCHED },
      (object, at, gone) => {
        const version = gone ? '' : stringAt(object, 'metadata', 'resourceVersion')
        const isChanged = !isFirst && version !== (seen.get(at) ?? '')
        if (gone) seen.delete(at)
        else seen.set(at, version)
        if (!isChanged) return
        for (const node of this.#needed.get(`${resource.kind}/${at}`) ?? []) this.#listener.configured(node)
      },
      () => {
        isFirst = false
      },
    )
  }

  async #follow(
    resource: ApiResource,
    signal: AbortSignal,
    which: Which,
    see: (object: Json, at: string, gone: boolean) => void,
    listed: () => void = () => {},
  ): Promise<void> {
    const one = (object: Json, gone: boolean) =>
      see(object, `${stringAt(object, 'metadata', 'namespace')}/${stringAt(object, 'metadata', 'name')}`, gone)
    const watcher = {
      listed: (objects: readonly Json[]) => {
        for (const object of objects) one(object, false)
        listed()
      },
      changed: one,
      interrupted: () => {},
    }
    await watchKind(this.#client, resource, watcher, signal, which)
  }
}

/** What kustomize-controller indexes a Kustomization by (internal/controller/kustomization_manager.go). */
function needsOf({ needs = [], decryption, settings }: Needing): { readonly kind: string; readonly name: string }[] {
  return [
    ...needs,
    ...(decryption?.secret === undefined ? [] : [{ kind: 'Secret', name: decryption.secret }]),
    ...(settings.kubeConfig ? [settings.kubeConfig] : []),
  ]
}
