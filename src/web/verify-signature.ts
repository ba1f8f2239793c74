import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * Whether a body was signed with one of the secrets, as GitHub signs (`sha256=` and 64 hex digits). Every secret is tried
 * and compared in constant time: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
 */
export function verifySignature(secrets: readonly string[], body: string, signature: string): boolean {
  const given = Buffer.from(signature.replace(/^sha256=/, ''), 'hex')
  const matches = secrets.map(secret => {
    const own = createHmac('sha256', secret).update(body).digest()
    return given.length === own.length && timingSafeEqual(given, own)
  })
  return matches.includes(true)
}
