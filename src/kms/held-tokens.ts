import { hash } from 'node:crypto'

interface Held<T> {
  readonly of: string
  readonly token: T
  readonly until: number
}

/** A token that is about to end is not used. */
const SPARE_MS = 300_000

/** What a credential was exchanged for, until it ends or the credential is another one. In memory only. */
export class HeldTokens<T> {
  readonly #held = new Map<string, Held<T>>()

  /** `secret`: the credential as it is now. `exchange` says for how long the token counts, in ms since 1970. */
  async get(
    name: string,
    secret: string,
    now: number,
    exchange: () => Promise<{ readonly token: T; readonly until: number }>,
  ): Promise<T> {
    const of = hash('sha256', secret)
    const held = this.#held.get(name)
    if (held && held.of === of && held.until - SPARE_MS > now) return held.token
    const { token, until } = await exchange()
    this.#held.set(name, { of, token, until })
    return token
  }

  /** It is not accepted any more. */
  forget(name: string): void {
    this.#held.delete(name)
  }
}
