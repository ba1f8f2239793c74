import { setTimeout as sleep } from 'node:timers/promises'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { ControllerWatch, refuseActiveController } from '../../src/cluster/active-controller.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import type { ClusterBinding } from '../../src/cluster/clusters-file.ts'
import { type Kms, openKms } from '../../src/cluster/open-kms.ts'
import { ownIdentity } from '../../src/cluster/refused-targets.ts'
import { RemoteClients } from '../../src/cluster/remote/remote-clients.ts'
import { Slots } from '../../src/cluster/slots.ts'
import { isRequested } from '../../src/cluster/status/kustomization-status.ts'
import { readKustomization } from '../../src/cluster/status/kustomizations.ts'
import type { Log } from '../../src/process/log.ts'
import type { AppliedNode, DriftNote } from '../../src/report/apply-report.ts'
import type { ApprovedNode } from '../../src/verdict/approve.ts'
import { applyApproved } from './apply-approved.ts'
import { isSettled, namedKubeConfigs } from './apply-node.ts'
import type { Approved } from './approved-nodes.ts'
import { ClusterMemory } from './cluster-memory.ts'
import { correctNode, DriftPace, DriftWatch } from './drift-watch.ts'
import { OpenedMemory } from './open-sealed.ts'
import { type RevisionOutcome, RevisionQueue } from './status-board.ts'
import { TriggerWatch } from './trigger-watch.ts'

interface WatchedClusterSettings {
  readonly client: ClusterClient
  readonly drift: 'watch' | 'poll'
  /** How often a fully watched node is checked, and how often any other one. */
  readonly fullPassMs: number
  readonly pollMs: number
  readonly log: Log
  /** Has `run` called again with what is approved then. */
  readonly again: () => void
  readonly lanes?: number
  /** Address of the cluster's notification-controller. */
  readonly events?: string | undefined
  /** API servers that kubeConfigs may lead to. */
  readonly kubeConfigs?: ClusterBinding['kubeConfigs'] | undefined
  /** Keys of services that decrypt for it. */
  readonly kmsKeys?: ClusterBinding['kmsKeys'] | undefined
  /** Current time in ms since 1970; compared with the expiry of tokens. */
  readonly now?: (() => number) | undefined
  /** Called with the outcome of each status with only a new revision. */
  readonly onRevision?: ((outcome: RevisionOutcome) => void) | undefined
}

const GATHER_MS = 20
const LANES = 16

/** One cluster that this process applies to, and whose drift it corrects between two runs. */
export class WatchedCluster {
  /** What was decrypted for its nodes. */
  readonly opened = new OpenedMemory()
  /** The services whose keys its operator lists. */
  readonly kms: Kms
  readonly #settings: WatchedClusterSettings
  readonly #client: ClusterClient
  readonly #memory: ClusterMemory
  readonly #watch: DriftWatch | undefined
  readonly #controllers: ControllerWatch | undefined
  readonly #triggers: TriggerWatch | undefined
  readonly #kept = new KeptNodes()
  readonly #pace = new DriftPace()
  readonly #slots = new Slots({ count: LANES, slowMs: 5000, slow: Number.POSITIVE_INFINITY })
  readonly #abort = new AbortController()
  #turn: Promise<unknown> = Promise.resolve()
  #drifted = new Set<string>()
  /** Nodes whose reconciliation may have been requested. */
  readonly #asked = new Set<string>()
  /** Nodes that need a ConfigMap or Secret that was changed. */
  readonly #configured = new Set<string>()
  readonly #revisions: RevisionQueue
  #retry: NodeJS.Timeout | undefined
  /** Status writes of corrected nodes. */
  readonly #showing = new Set<Promise<void>>()

  constructor(settings: WatchedClusterSettings) {
    const { client, drift, log, lanes, events, kubeConfigs = [], kmsKeys = [], now, onRevision } = settings
    this.#settings = settings
    this.kms = openKms(kmsKeys)
    const remotes = new RemoteClients(client, kubeConfigs, now)
    this.#revisions = new RevisionQueue({ onOutcome: onRevision })
    this.#memory = new ClusterMemory({
      events,
      revisions: this.#revisions,
      remotes,
      ...(lanes === undefined ? {} : { lanes }),
    })
    this.#watch =
      drift === 'poll'
        ? undefined
        : new DriftWatch(client, {
            drifted: node => this.#onDrift(node),
            unwatched: (kind, error) =>
              log.warn(
                { cluster: client.name, kind, reason: error.message },
                'kind is not watched, its drift is looked for',
              ),
          })
    this.#controllers = drift === 'poll' ? undefined : new ControllerWatch(client)
    this.#triggers =
      drift === 'poll'
        ? undefined
        : new TriggerWatch(client, {
            requested: node => this.#onRequest(node),
            configured: node => this.#onConfig(node),
            unwatched: (what, error) =>
              log.warn(
                { cluster: client.name, kind: what, reason: error.message },
                'not watched: it triggers no reconciliation at once',
              ),
          })
    this.#memory.health.onChange(settings.again)
    this.#memory.onTurnEnd(mayBeTried => (mayBeTried ? settings.again() : this.#retryLater()))
    this.#client = this.#watch?.observed(client) ?? client
  }

  /** Applies what is approved and not settled, and checks nodes again after some time. Throws like applyApproved. */
  async run(approved: Approved, signal: AbortSignal): Promise<AppliedNode[]> {
    return this.#withLock(async () => {
      // the results of an earlier run do not count
      this.#memory.progress = () => []
      void this.#askAhead()
      await this.#refuseController()
      for (const { key } of approved.apply) if (this.#isOld(key)) this.#memory.suspect(key)
      this.#suspectDue(approved.apply)
      this.#kept.replace([])
      const applied = await applyApproved(this.#client, approved, signal, this.#memory)
      const held = new Set(applied.filter(({ outcome }) => outcome === 'held').map(({ key }) => key))
      this.#kept.replace(approved.apply.filter(({ key }) => !held.has(key)))
      if (!this.#abort.signal.aborted) this.#triggers?.settle(approved.nodes)
      return applied
    })
  }

  /** The results so far of the nodes of the present run. */
  progress(): readonly AppliedNode[] {
    return this.#memory.progress()
  }

  /** Corrected drift, latest first. */
  get drift(): readonly DriftNote[] {
    return this.#memory.drift.notes
  }

  /** Calls `listener` after each correction of drift, in place of the former one. */
  onDrift(listener: () => void): void {
    this.#memory.drift.onNote(listener)
  }

  /** When a node that failed is tried again, in ms since 1970. */
  retryAt(key: string): number | undefined {
    return this.#memory.retries.nextAt(key)
  }

  /** Resolves when each Kustomization shows the revision of the last run. */
  async revisionsShown(): Promise<void> {
    await this.#revisions.idle()
  }

  /** For reads besides those of an apply. */
  get client(): ClusterClient {
    return this.#settings.client
  }

  async close(): Promise<void> {
    clearTimeout(this.#retry)
    this.#abort.abort()
    await this.#memory.close()
    await this.#watch?.close()
    await this.#controllers?.close()
    await this.#triggers?.close()
    await this.#turn
    await Promise.allSettled(this.#showing)
    this.#settings.client.close()
  }

  /** Throws if another controller applies to the cluster: checked before every run and every correction. */
  async #refuseController(): Promise<void> {
    if (this.#controllers) await this.#controllers.refuse()
    else await refuseActiveController(this.#client)
  }

  /** Nothing else is applied meanwhile, because a second writer of a node would be fenced. */
  async #withLock<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(async () => {
      this.#watch?.begin()
      try {
        return await work()
      } finally {
        if (!this.#abort.signal.aborted) {
          await this.#watch?.settle(this.#memory.inventories.values())
          this.#retryLater()
        }
      }
    })
    this.#turn = mine.catch(() => {})
    return mine
  }

  /** Requests what every node needs in advance, so that the first ones need not wait; after an error they ask again. */
  async #askAhead(): Promise<void> {
    await Promise.allSettled([ownIdentity(this.#client), this.#client.discovery.find('v1', 'Namespace')])
  }

  #isOld(key: string): boolean {
    const inventory = this.#memory.inventories.get(key)
    const isWatched = inventory !== undefined && this.#watch?.covers(inventory) === true
    const { fullPassMs, pollMs } = this.#settings
    // not all at once: each node at its own moment of the last quarter; polled ones come with every resync
    return this.#memory.ageMs(key) >= (isWatched ? fullPassMs * (1 - 0.25 * fractionOf(key)) : pollMs / 2)
  }

  /** Schedules a node before a token expires that it or one of its HelmReleases uses. */
  #suspectDue(nodes: readonly ApprovedNode[]): void {
    const own = this.#memory.remotes?.own
    if (!own?.isOn) return
    const named = nodes.map(node => ({ key: node.key, uses: namedKubeConfigs(node) }))
    own.retain(named.flatMap(({ uses }) => uses))
    for (const { key, uses } of named) if (uses.some(use => own.isDue(use))) this.#memory.suspect(key)
  }

  #retryLater(): void {
    clearTimeout(this.#retry)
    const waits = [this.#memory.retries.nextInMs(), this.#memory.remotes?.own.nextInMs()].flatMap(ms => ms ?? [])
    if (waits.length === 0) return
    this.#retry = setTimeout(this.#settings.again, Math.min(...waits)).unref()
  }

  #onDrift(key: string): void {
    this.#memory.suspect(key)
    this.#look(key)
  }

  #onRequest(key: string): void {
    this.#asked.add(key)
    this.#look(key)
  }

  #onConfig(key: string): void {
    this.#memory.suspect(key)
    this.opened.forget(key)
    this.#configured.add(key)
    this.#look(key)
  }

  #look(key: string): void {
    const isFirst = this.#drifted.size === 0
    this.#drifted.add(key)
    if (isFirst) void this.#gather()
  }

  /** Nodes that drift at the same moment are corrected together. */
  async #gather(): Promise<void> {
    await sleep(GATHER_MS)
    const keys = [...this.#drifted]
    this.#drifted = new Set()
    const byDelay = Map.groupBy(keys, key => this.#pace.delayMs(key))
    for (const [delay, some] of byDelay) void this.#correct(some, delay)
  }

  async #correct(keys: readonly string[], delayMs: number): Promise<void> {
    const { log, client } = this.#settings
    try {
      await sleep(delayMs, undefined, { signal: this.#abort.signal })
      await this.#withLock(async () => {
        await this.#refuseController()
        await Promise.all(keys.map(key => this.#slots.run(() => this.#correctOne(key))))
      })
    } catch (error) {
      // every node is still suspected: the next run checks it
      if (!this.#abort.signal.aborted) log.warn({ err: error, cluster: client.name }, 'drift could not be put back')
    }
  }

  /** Resolves when it is applied. */
  async #correctOne(key: string): Promise<void> {
    const memory = this.#memory
    const node = this.#kept.get(key)
    const inventory = memory.inventories.get(key)
    const isAsked = this.#asked.delete(key)
    // a run checked it meanwhile
    if (!memory.isSuspect(key) && !(isAsked && (await this.#isRequested(key)))) return
    if (memory.turns.isBusy(key)) return
    // only applied content is applied again here; new values are evaluated by a run
    const isOther = this.#configured.delete(key) && node !== undefined && needsValues(node)
    if (!node || !isSettled(node, inventory) || isOther) return this.#settings.again()
    const { log } = this.#settings
    const at = { client: this.#client, memory, log, signal: this.#abort.signal }
    const { shown } = await correctNode(at, node, inventory)
    const showing = shown.finally(() => this.#showing.delete(showing))
    this.#showing.add(showing)
  }

  /** Whether the live Kustomization has a request that its status does not answer. */
  async #isRequested(key: string): Promise<boolean> {
    const [, namespace = '', name = ''] = key.split('/')
    return isRequested(await readKustomization(this.#settings.client, namespace, name))
  }
}

/** Whether a node is made of values of the cluster, which only a run reads and evaluates. */
function needsValues({ needs = [], decryption }: Pick<ApprovedNode, 'needs' | 'decryption'>): boolean {
  return needs.length > 0 || decryption !== undefined
}

/** Between 0 and 1, the same for the same text. */
function fractionOf(text: string): number {
  let hash = 0
  for (let index = 0; index < text.length; index++) hash = (hash * 31 + text.charCodeAt(index)) >>> 0
  return hash / 2 ** 32
}

interface OpenSettings {
  readonly client: ClusterClient
  /** The default of a binding. */
  readonly resyncSeconds: number
  readonly log: Log
  /** Has `run` called again. */
  readonly again: () => void
  /** See WatchedCluster. */
  readonly onRevision?: (outcome: RevisionOutcome) => void
}

const FULL_PASS_SECONDS = 600

/** Opens a cluster with the settings of its binding in clusters.yaml. */
export function openWatchedCluster(
  binding: ClusterBinding,
  { client, resyncSeconds, log, again, onRevision }: OpenSettings,
): WatchedCluster {
  const resync = binding.resyncSeconds ?? resyncSeconds
  return new WatchedCluster({
    client,
    drift: binding.drift ?? 'watch',
    fullPassMs: (binding.fullPassSeconds ?? Math.max(FULL_PASS_SECONDS, resync)) * 1000,
    pollMs: (binding.fullPassSeconds ?? resync) * 1000,
    ...(binding.lanes === undefined ? {} : { lanes: binding.lanes }),
    events: binding.events,
    kubeConfigs: binding.kubeConfigs,
    kmsKeys: binding.kmsKeys,
    log,
    again,
    onRevision,
  })
}

const MAX_BYTES = 32 * 1024 * 1024

/**
 * What the last run was allowed to apply, packed (a tenth of its size), so that drift is corrected without an
 * evaluation. A run corrects what does not fit.
 */
export class KeptNodes {
  readonly #kept = new Map<string, { readonly node: ApprovedNode; readonly objects: Uint8Array }>()
  readonly #limit: number
  #size = 0

  constructor(limit: number = MAX_BYTES) {
    this.#limit = limit
  }

  /** Only these may be applied from now on. */
  replace(nodes: readonly ApprovedNode[]): void {
    const keys = new Set(nodes.map(({ key }) => key))
    for (const key of this.#kept.keys()) if (!keys.has(key)) this.#forget(key)
    for (const node of nodes) {
      const before = this.#kept.get(node.key)
      const same = before?.node.digest === node.digest ? before.objects : undefined
      const objects = same ?? packed(node)
      this.#forget(node.key)
      if (this.#size + objects.length > this.#limit) continue
      this.#size += objects.length
      this.#kept.set(node.key, { node: { ...node, objects: [] }, objects })
    }
  }

  get(key: string): ApprovedNode | undefined {
    const kept = this.#kept.get(key)
    return kept && { ...kept.node, objects: JSON.parse(inflateRawSync(kept.objects).toString()) }
  }

  #forget(key: string): void {
    this.#size -= this.#kept.get(key)?.objects.length ?? 0
    this.#kept.delete(key)
  }
}

/** A copy of its own: zlib's answer is part of a block of 64 KiB, which would stay in memory with it. */
function packed({ objects }: ApprovedNode): Uint8Array {
  return new Uint8Array(deflateRawSync(JSON.stringify(objects), { level: 1 }))
}
