import { generateKeyPairSync } from 'node:crypto'

/** An RSA key for tests, made at the start of the run. */
export const privateKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs1',
  format: 'pem',
}) as string

export const webhookSecret = 'a-secret-of-the-tests-0123456789'

/** The variables of a working start, with changes; `undefined` removes one. */
export function environment(changes: Record<string, string | undefined> = {}): Record<string, string | undefined> {
  return { APP_ID: '4711', PRIVATE_KEY: privateKey, WEBHOOK_SECRET: webhookSecret, PORT: '0', ...changes }
}
