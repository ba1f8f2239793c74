import type { Finding } from '../../rules/model/finding.ts'
import { heldAt } from '../applied/place-of.ts'

type Hiding = Pick<Finding, 'node' | 'fingerprint' | 'hides' | 'appliedAs'>
/** Whether a node is held, by its key. */
type IsHeld = (node: string) => boolean

/** What was left out of an evaluation before: by its cause, the bytes that it hides, and how these were applied. */
export class KnownHidden {
  readonly #bytes = new Set<string>()
  readonly #applied = new Set<string>()
  readonly #isHeld: IsHeld

  /** `isHeld` of what is asked about, `wasHeld` of what was there before. */
  constructor(before: Iterable<Hiding>, isHeld: IsHeld, wasHeld: IsHeld) {
    this.#isHeld = isHeld
    for (const { node, fingerprint, hides, appliedAs } of before) {
      if (hides === undefined) continue
      this.#bytes.add(`${fingerprint} ${hides}`)
      if (appliedAs === undefined) continue
      for (const place of wasHeld(node) ? [heldAt(appliedAs)] : [appliedAs, heldAt(appliedAs)]) {
        this.#applied.add(`${fingerprint} ${hides} ${place}`)
      }
    }
  }

  /** The same bytes were left out for the same cause. */
  hasBytes({ fingerprint, hides }: Hiding): boolean {
    return this.#bytes.has(`${fingerprint} ${hides}`)
  }

  /** They were, and they were applied like this, or are not applied now. */
  has(one: Hiding): boolean {
    const { node, fingerprint, hides, appliedAs } = one
    if (!this.hasBytes(one) || appliedAs === undefined) return this.hasBytes(one)
    const place = this.#isHeld(node) ? heldAt(appliedAs) : appliedAs
    return this.#applied.has(`${fingerprint} ${hides} ${place}`)
  }
}
