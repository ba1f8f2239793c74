/** A job that could start now, and whose share of the workers it would use; without one it waits for nobody. */
interface Candidate {
  readonly name: string
  readonly share: string | undefined
}

/** Takes turns between shares: who floods waits for himself, and everybody else for one job of his. */
export class Turns {
  readonly #taken = new Map<string, number>()
  #count = 0

  /** The name of the candidate whose share went without a turn for longest; of several, the first. */
  take(candidates: readonly Candidate[]): string | undefined {
    let [best, least]: [Candidate | undefined, number] = [undefined, Number.POSITIVE_INFINITY]
    for (const candidate of candidates) {
      const turn = candidate.share === undefined ? 0 : (this.#taken.get(candidate.share) ?? 0)
      if (turn < least) [best, least] = [candidate, turn]
    }
    if (best?.share !== undefined) this.#note(best.share, candidates)
    return best?.name
  }

  #note(share: string, candidates: readonly Candidate[]): void {
    this.#taken.set(share, ++this.#count)
    if (this.#taken.size <= candidates.length + 1_000) return
    const waiting = new Set(candidates.map(candidate => candidate.share))
    for (const known of this.#taken.keys()) if (!waiting.has(known)) this.#taken.delete(known)
  }
}
