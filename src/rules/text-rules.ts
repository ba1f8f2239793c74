import { plaintextSecret, unencryptedSetting } from './secrets/plaintext-secret.ts'

/** Rules about what people can read in git, whatever a cluster gets: values that a cluster gives are not there. */
export const TEXT_RULES: readonly string[] = [plaintextSecret.id, unencryptedSetting.id]
