import type { ApprovedNode } from '../../src/approval/approve.ts'
import type { AppliedNode } from '../../src/report/apply-report.ts'

const FIRST_MS = 5_000
const LONGEST_MS = 300_000

interface Failure {
  /** What was tried: something else is tried at once. */
  readonly combination: string
  readonly attempts: number
  readonly at: number
  readonly applied: AppliedNode
}

/** The nodes that failed last: each rests for itself, twice as long after each failure, and nobody waits for it. */
export class NodeRetries {
  readonly #failures = new Map<string, Failure>()
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** What was said of a node that rests; undefined: it may be tried now. */
  resting({ key, combination }: Pick<ApprovedNode, 'key' | 'combination'>): AppliedNode | undefined {
    const failure = this.#failures.get(key)
    return failure?.combination === combination && failure.at > this.#now() ? failure.applied : undefined
  }

  /** It failed: it is tried again after its own retryInterval, else after a pause that grows with each failure of the same. */
  failed(node: Pick<ApprovedNode, 'key' | 'combination' | 'settings'>, applied: AppliedNode): void {
    const { key, combination } = node
    const before = this.#failures.get(key)
    const attempts = before?.combination === combination ? before.attempts + 1 : 1
    const { retryIntervalMs, intervalMs } = node.settings
    const growing = Math.min(FIRST_MS * 2 ** Math.min(attempts - 1, 20), LONGEST_MS)
    // who writes no retryInterval has that of `interval`
    const pause = retryIntervalMs === intervalMs ? growing : Math.max(retryIntervalMs, FIRST_MS)
    this.#failures.set(key, { combination, attempts, at: this.#now() + pause, applied })
  }

  /** It failed last. */
  has(key: string): boolean {
    return this.#failures.has(key)
  }

  /** It was applied, or is no longer to be applied. */
  forget(key: string): void {
    this.#failures.delete(key)
  }

  /** Forgets nodes that are not among these. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of this.#failures.keys()) if (!keys.has(key)) this.#failures.delete(key)
  }

  /** When the node is tried again, in ms since 1970; undefined for one that did not fail. */
  nextAt(key: string): number | undefined {
    return this.#failures.get(key)?.at
  }

  /** How long until somebody may be tried again; undefined: nobody failed. */
  nextInMs(): number | undefined {
    const times = [...this.#failures.values()].map(({ at }) => at)
    return times.length === 0 ? undefined : Math.max(0, Math.min(...times) - this.#now())
  }
}
