import type { ClusterPage } from '../../src/report/applied/cluster-page.ts'

/** How soon a first result is written on a pull request, and how often at most it is brought up to date. */
interface CommentPace {
  readonly firstMs: number
  readonly everyMs: number
  /** How often at most where only more drift was corrected. */
  readonly driftMs: number
}

/** Several clusters finish within the first pause; GitHub takes 500 requests an hour that create content. */
export const COMMENT_PACE: CommentPace = { firstMs: 3_000, everyMs: 15_000, driftMs: 600_000 }
/** For a GitHub on this machine. */
export const LOOPBACK_COMMENT_PACE: CommentPace = { firstMs: 30, everyMs: 150, driftMs: 150 }

/** What a process remembers of what it published: only what spares requests. */
export class ReportMemory {
  /** The check run of each cluster and commit. */
  readonly checkRuns = new Map<string, string>()
  /** Pages by cluster and address of the repository, as they were stored last: for one that the store did not keep. */
  readonly pages = new Map<string, ClusterPage>()
  readonly pace: CommentPace
  readonly #due = new Map<string, number>()
  /** Clusters whose page is about to show what was corrected between two runs. */
  readonly drifting = new Map<string, NodeJS.Timeout>()
  readonly #now: () => number

  constructor(pace: CommentPace, now: () => number = Date.now) {
    this.pace = pace
    this.#now = now
  }

  /** How long to wait before the comment of this name is written; undefined: one that is due already has the latest. */
  commentDelayMs(name: string, about: 'state' | 'drift' = 'state'): number | undefined {
    const now = this.#now()
    const { firstMs, everyMs, driftMs } = this.pace
    for (const [other, at] of this.#due) if (at + driftMs < now) this.#due.delete(other)
    const last = this.#due.get(name)
    const isDue = last !== undefined && last > now
    // what waits because of drift only is brought forward by another state
    if (isDue && (about === 'drift' || last <= now + everyMs)) return undefined
    const pause = about === 'drift' ? driftMs : everyMs
    const due = isDue ? now + everyMs : Math.max(now + firstMs, (last ?? 0) + pause)
    this.#due.set(name, due)
    return due - now
  }
}
