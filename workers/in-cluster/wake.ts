/** A sleep that a call ends, also one that came before it began. */
export class Wake {
  #called = false
  #awake: (() => void) | undefined

  call(): void {
    this.#called = true
    this.#awake?.()
  }

  /** Whether it was called since the last time that somebody asked. */
  take(): boolean {
    const called = this.#called
    this.#called = false
    return called
  }

  /** Ends with a call and with the signal, too. */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (this.#called || signal.aborted) return
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, ms)
      this.#awake = () => {
        clearTimeout(timer)
        resolve()
      }
      signal.addEventListener('abort', this.#awake, { once: true })
    })
    if (this.#awake) signal.removeEventListener('abort', this.#awake)
    this.#awake = undefined
  }
}
