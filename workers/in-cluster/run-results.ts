import type { ApplyResults } from '../../src/channel/apply-results.ts'
import type { WatchedCluster } from '../apply/watched-cluster.ts'
import type { Ended } from './apply-work.ts'

/** What there is to say about the present and the last run over a cluster. */
export class RunResults {
  readonly #cluster: Pick<WatchedCluster, 'progress' | 'drift' | 'retryAt'>
  readonly #progressMs: number
  #ended: Ended | undefined
  #running: { readonly revisionSet: string; readonly since: number } | undefined

  /** `progressMs`: a run that ends sooner is reported when it has ended. */
  constructor(cluster: Pick<WatchedCluster, 'progress' | 'drift' | 'retryAt'>, progressMs: number) {
    this.#cluster = cluster
    this.#progressMs = progressMs
  }

  /** Another revision set is approved: what became of the former one is of no interest any more. */
  forget(): void {
    this.#ended = undefined
  }

  began(revisionSet: string): void {
    this.#running = { revisionSet, since: performance.now() }
  }

  /** `ended`: what it came to; undefined where that is not known, and it is run again. */
  over(ended: Ended | undefined): void {
    this.#running = undefined
    this.#ended = ended ?? this.#ended
  }

  present(): ApplyResults | undefined {
    const running = this.#running
    const isLong = running !== undefined && performance.now() - running.since >= this.#progressMs
    if (isLong) return this.#results({ revisionSet: running.revisionSet, applied: this.#cluster.progress() }, true)
    return this.#ended && this.#results(this.#ended, false)
  }

  #results(what: Ended, isRunning: boolean): ApplyResults {
    const retries = what.applied.flatMap(({ key }) => {
      const at = this.#cluster.retryAt(key)
      return at === undefined ? [] : [{ key, at: new Date(at).toISOString() }]
    })
    return { ...what, isRunning, retries, drift: this.#cluster.drift }
  }
}
