import { setTimeout as sleep } from 'node:timers/promises'

/** A status and its event: together as many requests as kustomize-controller sends by default (`--kube-api-qps`, 50). */
const PER_SECOND = 25
const AT_ONCE = 4

/** What became of a status that tells a new revision and nothing else. `coalesced`: a newer one was written in its place. */
export type RevisionOutcome = 'written' | 'coalesced' | 'failed'

interface RevisionQueueOptions {
  readonly perSecond?: number
  readonly onOutcome?: ((outcome: RevisionOutcome) => void) | undefined
  readonly pause?: (ms: number) => Promise<unknown>
}

interface Waiting {
  readonly revision: string
  /** Rejects where it is not written. */
  readonly write: () => Promise<void>
}

/**
 * Statuses that tell a new revision and nothing else, of one cluster. They are written after the run that enqueues them, a
 * limited number each second, and only the newest of each node. What is lost with the process, the next run enqueues again:
 * the live status still has the former revision.
 */
export class RevisionQueue {
  readonly #pauseMs: number
  readonly #onOutcome: (outcome: RevisionOutcome) => void
  readonly #pause: (ms: number) => Promise<unknown>
  /** Of the present run. */
  readonly #next = new Map<string, Waiting>()
  readonly #waiting = new Map<string, Waiting>()
  readonly #writing = new Map<string, { readonly revision: string; readonly done: Promise<void> }>()
  readonly #problems = new Map<string, string>()
  #draining: Promise<void> | undefined
  #isClosed = false

  constructor({ perSecond = PER_SECOND, onOutcome = () => {}, pause = sleep }: RevisionQueueOptions = {}) {
    this.#pauseMs = 1000 / perSecond
    this.#onOutcome = onOutcome
    this.#pause = pause
  }

  /** How many statuses still tell a former revision. */
  get size(): number {
    return new Set([...this.#next.keys(), ...this.#waiting.keys(), ...this.#writing.keys()]).size
  }

  /** Replaces what waits of the node. */
  put(key: string, waiting: Waiting): void {
    if (this.#writing.get(key)?.revision === waiting.revision) return
    const before = this.#waiting.get(key) ?? this.#next.get(key)
    if (before !== undefined && before.revision !== waiting.revision) this.#onOutcome('coalesced')
    // in the place of what waits already, or a node that changes often would never be first
    const queue = this.#waiting.has(key) ? this.#waiting : this.#next
    queue.set(key, waiting)
  }

  /** The run is over: what it enqueued is written now. */
  start(): void {
    for (const [key, waiting] of this.#next) this.#waiting.set(key, waiting)
    this.#next.clear()
    this.#resume()
  }

  /** Forgets what waits of the node, because its status is written otherwise; resolves when nothing is being written. */
  async drop(key: string): Promise<void> {
    this.#next.delete(key)
    this.#waiting.delete(key)
    await this.#writing.get(key)?.done
  }

  /** Writes what waits of the node at once, for whoever reads its status. */
  async flush(key: string): Promise<void> {
    for (let busy = this.#writing.get(key); busy !== undefined; busy = this.#writing.get(key)) await busy.done
    const waiting = this.#next.get(key) ?? this.#waiting.get(key)
    if (waiting !== undefined) await this.#write(key, waiting)
  }

  /** Forgets the nodes that are not among these. */
  keep(keys: ReadonlySet<string>): void {
    for (const queue of [this.#next, this.#waiting, this.#problems])
      for (const key of queue.keys()) if (!keys.has(key)) queue.delete(key)
  }

  /** What was not written since this was asked last, by node. */
  takeProblems(): ReadonlyMap<string, string> {
    const problems = new Map(this.#problems)
    this.#problems.clear()
    return problems
  }

  /** Resolves when nothing waits that a run enqueued. */
  async idle(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining
  }

  /** Writes nothing more. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#next.clear()
    this.#waiting.clear()
    await Promise.all([...this.#writing.values()].map(({ done }) => done))
  }

  #resume(): void {
    if (this.#waiting.size > 0 && !this.#isClosed) this.#draining ??= this.#drain()
  }

  async #drain(): Promise<void> {
    while (this.#waiting.size > 0) {
      const [first] = [...this.#waiting].filter(([key]) => !this.#writing.has(key))
      if (first !== undefined && this.#writing.size < AT_ONCE) void this.#write(...first)
      await this.#pause(this.#pauseMs)
    }
    await Promise.all([...this.#writing.values()].map(({ done }) => done))
    this.#draining = undefined
    this.#resume()
  }

  async #write(key: string, waiting: Waiting): Promise<void> {
    this.#next.delete(key)
    this.#waiting.delete(key)
    const done = this.#tried(key, waiting).finally(() => this.#writing.delete(key))
    this.#writing.set(key, { revision: waiting.revision, done })
    await done
  }

  async #tried(key: string, { write }: Waiting): Promise<void> {
    try {
      await write()
      this.#onOutcome('written')
    } catch (error) {
      this.#problems.set(key, error instanceof Error ? error.message : String(error))
      this.#onOutcome('failed')
    }
  }
}
