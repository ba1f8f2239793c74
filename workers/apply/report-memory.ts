import type { ClusterPage } from '../../src/report/applied/cluster-page.ts'

/** How soon a first result is written on a pull request, and how often at most it is brought up to date. */
interface CommentPace {
  readonly firstMs: number
  readonly everyMs: number
}

/** Several clusters finish within the first pause; GitHub takes 500 requests an hour that create content. */
export const COMMENT_PACE: CommentPace = { firstMs: 3_000, everyMs: 15_000 }
/** For a GitHub on this machine. */
export const LOOPBACK_COMMENT_PACE: CommentPace = { firstMs: 30, everyMs: 150 }

/** What a process remembers of what it published: only what spares requests. */
export class ReportMemory {
  /** The check run of each cluster and commit. */
  readonly said = new Map<string, string>()
  /** Pages by cluster and address of the repository, as they were stored last, and when that was. */
  readonly pages = new Map<string, { readonly page: ClusterPage; readonly at: number }>()
  readonly #pace: CommentPace
  readonly #due = new Map<string, number>()
  readonly #now: () => number

  constructor(pace: CommentPace, now: () => number = Date.now) {
    this.#pace = pace
    this.#now = now
  }

  /** How long to wait before the comment of this name is written; undefined: one that is due already has the latest. */
  commentDelayMs(name: string): number | undefined {
    const now = this.#now()
    const { firstMs, everyMs } = this.#pace
    for (const [other, at] of this.#due) if (at + everyMs < now) this.#due.delete(other)
    const last = this.#due.get(name)
    if (last !== undefined && last > now) return undefined
    const due = Math.max(now + firstMs, (last ?? 0) + everyMs)
    this.#due.set(name, due)
    return due - now
  }
}
