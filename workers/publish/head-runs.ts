import { listOurCheckRuns, type OurCheckRun } from '../../src/github/checks/list-check-runs.ts'
import type { Octokit } from '../../src/github/client/octokit.ts'
import type { Queue } from '../../src/queue/queue.ts'
import type { PublishTarget } from './publish-verdict.ts'

interface Head {
  readonly queue: Pick<Queue, 'withLock' | 'entries'>
  readonly place: PublishTarget
  readonly headSha: string
  /** Reads them. */
  readonly octokit: Octokit
}

/**
 * Our check runs of one commit, as one job knows them. Several jobs and processes may write runs of a commit at once,
 * and GitHub accepts duplicates of a name; so they write under a lock, and read the runs again if another one wrote in
 * between.
 */
export class HeadRuns {
  readonly #head: Head
  #runs: Promise<readonly OurCheckRun[]> | undefined
  #entry = 0

  constructor(head: Head) {
    this.#head = head
  }

  /** As they were listed last; asked for at most once. An answer that failed is asked for again. */
  readonly list = (): Promise<readonly OurCheckRun[]> => {
    this.#runs ??= this.#ask().catch(error => {
      this.#runs = undefined
      throw error
    })
    return this.#runs
  }

  /** Writes while nobody else does. `present`: what the caller knows, which `write` gets where nobody wrote since. */
  readonly withLock = <T>(
    present: readonly OurCheckRun[],
    write: (runs: readonly OurCheckRun[]) => Promise<T>,
  ): Promise<T> =>
    this.#head.queue.withLock(this.#key, async entry => {
      const isFirst = entry === this.#entry + 1
      this.#entry = entry
      if (isFirst) return write(present)
      this.#runs = undefined
      const { octokit, place, headSha } = this.#head
      const latest = await listOurCheckRuns(octokit, place.app, place, headSha)
      this.#runs = Promise.resolve(latest)
      return write(latest)
    })

  async #ask(): Promise<readonly OurCheckRun[]> {
    const { queue, octokit, place, headSha } = this.#head
    this.#entry = await queue.entries(this.#key) // before: what is written while they are listed counts as new
    return listOurCheckRuns(octokit, place.app, place, headSha)
  }

  get #key(): string {
    const { place, headSha } = this.#head
    return `${place.owner}/${place.repo}@${headSha}`.toLowerCase()
  }
}
