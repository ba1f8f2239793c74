import { isCredentialName } from './credential-keys.ts'
import { isPlaceholder } from './placeholder.ts'

const USER_INFO = /\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s/:@"']{0,200}:([^\s/@"']{1,500})@/gi
const PARAMETER = /[?&;]([\w.-]{1,100})=([^\s&;"']{1,2000})/g
const SIGNED = /^(?:sig|signature|x-amz-signature|sv|token|key|access_?token|code|secret|password|pass)$/i

/** Whether addresses in a text hold a password or a token in the open: `postgres://app:hunter2@db/app`, `?token=...`. */
export function urlSecret(text: string): boolean {
  if (!text.includes('://')) return false
  for (const [, password = ''] of text.matchAll(USER_INFO)) if (!isPlaceholder(password)) return true
  for (const [, name = '', value = ''] of text.matchAll(PARAMETER)) {
    if ((SIGNED.test(name) || isCredentialName(name)) && !isPlaceholder(value)) return true
  }
  return false
}
