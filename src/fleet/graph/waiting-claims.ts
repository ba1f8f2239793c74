import type { Claim } from './draft.ts'

/** Claims that cannot be opened before a source is known, in the order in which they came. */
export class WaitingClaims {
  readonly #waiting = new Map<Claim, { readonly source: string; readonly turn: number }>()
  readonly #bySource = new Map<string, Set<Claim>>()
  #turns = 0
  #ofPlatform = 0

  add(claim: Claim, source: string): void {
    this.#waiting.set(claim, { source, turn: this.#turns++ })
    this.#bySource.set(source, (this.#bySource.get(source) ?? new Set()).add(claim))
    if (claim.parent.tenant === undefined) this.#ofPlatform++
  }

  get hasPlatform(): boolean {
    return this.#ofPlatform > 0
  }

  /** Those that waited for one of these: each is opened again for its own source only, however many appear. */
  release(sources: readonly string[]): Claim[] {
    const claims = new Set(sources.flatMap(source => [...(this.#bySource.get(source) ?? [])]))
    const turnOf = (claim: Claim) => this.#waiting.get(claim)!.turn
    const inTurn = [...claims].sort((a, b) => turnOf(a) - turnOf(b))
    for (const claim of inTurn) this.#remove(claim)
    return inTurn
  }

  /** The first of those that are left, for nobody renders its source any more. */
  first(): Claim | undefined {
    const [claim] = this.#waiting.keys()
    if (claim) this.#remove(claim)
    return claim
  }

  /** What they wait for, each with those that do. */
  sources(): (readonly [id: string, claims: readonly Claim[]])[] {
    return [...this.#bySource].flatMap(([id, claims]) => (claims.size > 0 ? [[id, [...claims]] as const] : []))
  }

  #remove(claim: Claim): void {
    this.#bySource.get(this.#waiting.get(claim)!.source)?.delete(claim)
    this.#waiting.delete(claim)
    if (claim.parent.tenant === undefined) this.#ofPlatform--
  }
}
