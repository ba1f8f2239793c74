import type { Rule } from '../rule.ts'
import { plaintextSecret } from './plaintext-secret.ts'

/** What must not be read. */
export const secretsRules: readonly Rule[] = [plaintextSecret]
