import { plaintextSecret, unencryptedSetting } from './secrets/plaintext-secret.ts'

/** Rules about what people read in git, whatever a cluster applies: values that only a cluster has are not there. */
export const TEXT_RULES: readonly string[] = [plaintextSecret.id, unencryptedSetting.id]
