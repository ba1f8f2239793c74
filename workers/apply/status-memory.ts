const HOUR_MS = 3_600_000
/** Commits whose statuses are remembered: one that is forgotten is read again. */
const MAX_COMMITS = 500

/** What commits say, as far as this process read or wrote it, and what it wrote in the last hour. */
export class StatusMemory {
  readonly #commits = new Map<string, Map<string, string>>()
  readonly #silent = new Map<string, number>()
  readonly #now: () => number
  #written: number[] = []

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** What each context of a commit says; undefined where that is not known. */
  of(commit: string): Map<string, string> | undefined {
    return this.#commits.get(commit)
  }

  keep(commit: string, statuses: Map<string, string>): Map<string, string> {
    const [oldest] = this.#commits.keys()
    if (this.#commits.size >= MAX_COMMITS && oldest !== undefined) this.#commits.delete(oldest)
    this.#commits.set(commit, statuses)
    return statuses
  }

  /** How many were written in the last hour. */
  get written(): number {
    const since = this.#now() - HOUR_MS
    this.#written = this.#written.filter(at => at > since)
    return this.#written.length
  }

  note(): void {
    this.#written.push(this.#now())
  }

  /** Nothing is tried there for an hour. */
  silence(where: string): void {
    const now = this.#now()
    for (const [other, until] of this.#silent) if (until <= now) this.#silent.delete(other)
    this.#silent.set(where, now + HOUR_MS)
  }

  isSilent(where: string): boolean {
    return (this.#silent.get(where) ?? 0) > this.#now()
  }
}
