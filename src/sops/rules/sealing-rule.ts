import type { Entry } from '../../kustomize/model/entry.ts'
import type { Origin } from '../../origin.ts'

/** Who can open a file, and which of its values are encrypted, as a creation rule of `.sops.yaml` says. */
export interface SealingRule {
  /** At least one. */
  readonly recipients: readonly Recipient[]
  /** Undefined: as SOPS does without one, every value but those below a key that ends with `_unencrypted`. */
  readonly selection: Selection | undefined
  readonly macOnlyEncrypted: boolean
  /** Where the rule begins. */
  readonly origin: Origin
}

/** A public key: `age1...`, or the fingerprint of a PGP key as 40 or 64 upper-case hex digits. */
export interface Recipient {
  readonly kind: 'age' | 'pgp'
  readonly text: string
  readonly origin: Origin
}

/** Fields of a rule of which SOPS takes one at most. */
export const SELECTIONS = [
  'encrypted_regex',
  'encrypted_suffix',
  'unencrypted_regex',
  'unencrypted_suffix',
  'encrypted_comment_regex',
  'unencrypted_comment_regex',
] as const

export interface Selection {
  readonly field: (typeof SELECTIONS)[number]
  readonly value: Entry
}
