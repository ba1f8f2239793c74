/** The rate-limit pauses of installations, shared by all lanes of a process. */
export class RateLimitPauses {
  readonly #until = new Map<string, number>()

  /** Pauses an installation; a longer pause that it already has stays. */
  pause(holder: string | undefined, ms: number): void {
    if (holder === undefined) return
    this.#until.set(holder, Math.max(this.#until.get(holder) ?? 0, Date.now() + ms))
  }

  /** How long the pause still lasts, in ms; 0 without one. */
  left(holder: string | undefined): number {
    if (holder === undefined) return 0
    const left = (this.#until.get(holder) ?? 0) - Date.now()
    if (left <= 0) this.#until.delete(holder)
    return Math.max(0, left)
  }
}
