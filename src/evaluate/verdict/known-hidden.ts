import type { Finding } from '../../rules/model/finding.ts'

type Hiding = Pick<Finding, 'fingerprint' | 'hides' | 'appliedAs'>

/** What was left out of an evaluation before: by its cause, the bytes that it hides, and how these were applied. */
export class KnownHidden {
  readonly #bytes = new Set<string>()
  readonly #applied = new Set<string>()

  constructor(before: Iterable<Hiding>) {
    for (const { fingerprint, hides, appliedAs } of before) {
      if (hides === undefined) continue
      this.#bytes.add(`${fingerprint} ${hides}`)
      if (appliedAs !== undefined) this.#applied.add(`${fingerprint} ${hides} ${appliedAs}`)
    }
  }

  /** The same bytes were left out for the same cause. */
  hasBytes({ fingerprint, hides }: Hiding): boolean {
    return this.#bytes.has(`${fingerprint} ${hides}`)
  }

  /** They were, and they were applied like this, or are not applied now. */
  has(one: Hiding): boolean {
    const { fingerprint, hides, appliedAs } = one
    return this.hasBytes(one) && (appliedAs === undefined || this.#applied.has(`${fingerprint} ${hides} ${appliedAs}`))
  }
}
