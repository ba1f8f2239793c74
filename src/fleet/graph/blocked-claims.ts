import type { Claim } from './draft.ts'
import type { Need } from './node-values.ts'

/** `platform`: nobody but the platform can render what is missing. */
export type ProvidedBy = 'platform' | 'anybody'

interface Blocked {
  readonly id: string
  readonly among: Set<Claim>
}

/** Claims that cannot be rendered before a ConfigMap or Secret is. */
export class BlockedClaims {
  readonly #blocked = new Map<Claim, Blocked>()
  readonly #byId = new Map<string, Set<Claim>>()
  readonly #optional = { platform: new Set<Claim>(), anybody: new Set<Claim>() }
  readonly #needed = { platform: new Set<Claim>(), anybody: new Set<Claim>() }

  add(claim: Claim, { id, optional }: Need, side: ProvidedBy): void {
    const among = (optional ? this.#optional : this.#needed)[side]
    among.add(claim)
    this.#blocked.set(claim, { id, among })
    const waiting = this.#byId.get(id) ?? new Set()
    this.#byId.set(id, waiting.add(claim))
  }

  /** Those that waited for what is there now. */
  release(id: string): Claim[] {
    return this.remove([...(this.#byId.get(id) ?? [])])
  }

  /**
   * Those that go on without: nothing else is left that could render what they wait for. One at a time while something
   * optional is missing, for what it renders may be what others wait for; those that fail without, all at once.
   */
  giveUp(side: ProvidedBy): Claim[] {
    const [first] = this.#optional[side]
    return this.remove(first ? [first] : [...this.#needed[side]])
  }

  private remove(claims: Claim[]): Claim[] {
    for (const claim of claims) {
      const { id, among } = this.#blocked.get(claim)!
      this.#blocked.delete(claim)
      this.#byId.get(id)?.delete(claim)
      among.delete(claim)
    }
    return claims
  }
}
