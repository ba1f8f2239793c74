import { randomUUID } from 'node:crypto'
import type { ApplyResults } from '../channel/apply-results.ts'
import type { ClusterWork } from '../channel/cluster-work.ts'
import type { TtlStore } from './shelf.ts'

/** Work for the worker of a cluster, and the installation that its sources belong to, which the worker is not told. */
interface OfferedWork {
  readonly installation: number
  readonly work: ClusterWork
}

interface StoredResults {
  /** Identifies this report among all of the cluster. */
  readonly tag: string
  readonly results: ApplyResults
}

/** A report that is not kept: `tag` is that of the one that stays, if there is one. */
interface Refused {
  readonly refused: 'older' | 'overtaken'
  readonly tag?: string
}

/** Longer than any resync, which stores it again. */
export const WORK_LIMITS = { ttlMs: 2 * 86_400_000, maxBytes: 256 * 1024 * 1024 }

/** What is approved for each cluster that has a worker of its own, and what became of it. */
export class WorkStore {
  readonly #store: TtlStore

  constructor(store: TtlStore) {
    this.#store = store
  }

  offer(cluster: string, offered: OfferedWork): Promise<void> {
    return this.#store.put(`work ${cluster}`, Buffer.from(JSON.stringify(offered)))
  }

  async offered(cluster: string): Promise<OfferedWork | undefined> {
    return (await this.#read(`work ${cluster}`)) as OfferedWork | undefined
  }

  /**
   * Keeps a report in place of the one that `before` names (undefined: there is none), if it is of the revision set that is
   * offered now. Not kept: one that was sent before the last one was taken, and one of another revision set. Nobody else may
   * report for the cluster meanwhile.
   */
  async report(
    cluster: string,
    results: ApplyResults,
    before: string | undefined,
  ): Promise<{ readonly tag: string } | Refused> {
    const last = (await this.#read(`results ${cluster}`)) as StoredResults | undefined
    const known = last === undefined ? {} : { tag: last.tag }
    const offered = await this.offered(cluster)
    if (offered?.work.revisionSet !== results.revisionSet) return { refused: 'overtaken', ...known }
    if (last?.tag !== before) return { refused: 'older', ...known }
    const stored: StoredResults = { tag: randomUUID(), results }
    await this.#store.put(`results ${cluster}`, Buffer.from(JSON.stringify(stored)))
    return { tag: stored.tag }
  }

  /** What the worker of a cluster said last. */
  async reported(cluster: string): Promise<ApplyResults | undefined> {
    return ((await this.#read(`results ${cluster}`)) as StoredResults | undefined)?.results
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  async #read(key: string): Promise<unknown> {
    const bytes = await this.#store.get(key)
    return bytes && JSON.parse(bytes.toString('utf8'))
  }
}
