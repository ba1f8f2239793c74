import type { ApplyResults } from '../channel/apply-results.ts'
import type { ClusterWork } from '../channel/cluster-work.ts'
import type { Shelf } from './shelf.ts'

/** Work for the worker of a cluster, and the installation that its sources belong to, which the worker is not told. */
interface OfferedWork {
  readonly installation: number
  readonly work: ClusterWork
}

/** Longer than any resync, which stores it again. */
export const WORK_LIMITS = { ttlMs: 2 * 86_400_000, maxBytes: 256 * 1024 * 1024 }

/** What is approved for each cluster that has a worker of its own, and what became of it. */
export class WorkStore {
  readonly #shelf: Shelf

  constructor(shelf: Shelf) {
    this.#shelf = shelf
  }

  offer(cluster: string, offered: OfferedWork): Promise<void> {
    return this.#shelf.put(`work ${cluster}`, Buffer.from(JSON.stringify(offered)))
  }

  async offered(cluster: string): Promise<OfferedWork | undefined> {
    return (await this.#read(`work ${cluster}`)) as OfferedWork | undefined
  }

  report(cluster: string, results: ApplyResults): Promise<void> {
    return this.#shelf.put(`results ${cluster}`, Buffer.from(JSON.stringify(results)))
  }

  async reported(cluster: string): Promise<ApplyResults | undefined> {
    return (await this.#read(`results ${cluster}`)) as ApplyResults | undefined
  }

  close(): Promise<void> {
    return this.#shelf.close()
  }

  async #read(key: string): Promise<unknown> {
    const bytes = await this.#shelf.get(key)
    return bytes && JSON.parse(bytes.toString('utf8'))
  }
}
