import type { Rule } from '../model/rule.ts'
import { decryptionRef } from './decryption-ref.ts'
import { plaintextSecret } from './plaintext-secret.ts'
import { platformSecretSent } from './platform-secret-sent.ts'
import { secretExfilSubstitution } from './secret-exfil-substitution.ts'
import { sopsCiphertextReuse } from './sops-ciphertext-reuse.ts'
import { sopsRecipient } from './sops-recipient.ts'
import { unencryptedSetting } from './unencrypted-setting.ts'

/** What must not be read. */
export const secretsRules: readonly Rule[] = [
  decryptionRef,
  plaintextSecret,
  platformSecretSent,
  secretExfilSubstitution,
  sopsCiphertextReuse,
  sopsRecipient,
  unencryptedSetting,
]
