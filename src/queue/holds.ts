/** The rate-limit pauses of installations, shared by all lanes of a process. */
export class Holds {
  readonly #until = new Map<string, number>()

  /** Has an installation rest; a longer rest that it has already stays. */
  hold(holder: string | undefined, ms: number): void {
    if (holder === undefined) return
    this.#until.set(holder, Math.max(this.#until.get(holder) ?? 0, Date.now() + ms))
  }

  /** How long it still rests, in ms; 0: not at all. */
  left(holder: string | undefined): number {
    if (holder === undefined) return 0
    const left = (this.#until.get(holder) ?? 0) - Date.now()
    if (left <= 0) this.#until.delete(holder)
    return Math.max(0, left)
  }
}
