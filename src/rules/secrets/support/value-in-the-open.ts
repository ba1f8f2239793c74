import { holdsSecret, isConfigText } from './config-text.ts'
import { credentialIn } from './credential-forms.ts'
import { looksRandom } from './looks-random.ts'
import { meaningOf } from './meaning-of.ts'
import { isPlaceholder, literalPart } from './placeholder.ts'
import { urlSecret } from './url-secret.ts'

/** Why a value of a Secret is none although nothing encrypts it, for people. */
export type Harmless =
  | 'a variable'
  | 'a placeholder'
  | 'a public key or certificate'
  | 'a setting'
  | 'a file of settings'

const PUBLIC_PEM =
  /^(?:\s*(?:#[^\n]{0,1000}\n\s*)*-----BEGIN (CERTIFICATE|TRUSTED CERTIFICATE|X509 CRL|(?:RSA )?PUBLIC KEY|PGP PUBLIC KEY BLOCK)-----[^-]{1,100000}-----END \1-----)+\s*$/
const SSH_KEY =
  '(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-nistp\\d{3}|sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)@openssh\\.com) AAAA[A-Za-z0-9+/=]{20,20000}'
/** A public key of ssh, with options or hosts before it (authorized_keys, known_hosts) and a comment behind. */
const SSH_LINE = new RegExp(`^(?:@cert-authority )?(?:[^\\s"]{1,1000} )?${SSH_KEY}(?: [^\\n]{0,200})?$`)
const AGE_RECIPIENT = /^age1[0-9a-z]{50,4000}$/
/** What stands before a variable in a header. */
const SCHEME = /^(?:bearer|basic|token)$/i
const SWITCH = /^(?:true|false|yes|no|on|off|enabled|disabled)$/i
/** Keys whose value is the secret itself, whatever it is. */
const ITSELF = /(?:password|passwd|passphrase|pass|pwd|pw|secret|token|key|pin)$/i
const QUANTITY = /^\d{1,9}(?:ms|s|m|h|d|[kMGT]i?|%)$/
/** A host by its name, also in an address with plain words behind it: anything else there may be for those who know it. */
const ADDRESS =
  /^(?:(?:https?:\/\/)?(?:[a-z0-9](?:[a-z0-9-]{0,62})\.){1,10}[a-z]{2,24}(?::\d{1,5})?(?:\/(?:[a-z]{1,30}(?:-[a-z]{1,30}){0,5}|v\d{1,2})){0,10}\/?|(?:\d{1,3}\.){3}\d{1,3}(?:[:/]\d{1,5})?|[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,5}[a-z]{2,24})$/i
const MAX_SETTING = 512

/**
 * Why a plain value of a Secret, known by its key, is no secret; undefined: it is taken for one. What says nothing, neither
 * by its key nor by its form, is a secret. A weak password is one as well.
 */
export function harmlessValue(key: string, written: string): Harmless | undefined {
  const text = literalPart(written).trim()
  if (text === '' || (text !== written.trim() && SCHEME.test(text)) || /^[\s:@/.,;|_-]+$/.test(text))
    return 'a variable'
  if (isPlaceholder(text)) return 'a placeholder'
  if (isPublic(text)) return 'a public key or certificate'
  if (credentialIn(text)) return undefined
  if (/\.env$|^\.?env$/i.test(key) || (text.includes('\n') && isDotenv(text))) {
    return !/\bsops_/.test(text) && pairsOf(text).every(([name, value]) => isHarmlessPair(name, value))
      ? 'a file of settings'
      : undefined
  }
  if (isConfigText(key, text)) return holdsSecret(written) ? undefined : 'a file of settings'
  if (text.includes('\n') || text.length > MAX_SETTING || urlSecret(text) || looksRandom(text)) return undefined
  if (SWITCH.test(text) && !ITSELF.test(key)) return 'a setting'
  const meaning = meaningOf(key)
  if (meaning === 'setting') return 'a setting'
  return meaning === 'unknown' && (QUANTITY.test(text) || ADDRESS.test(text)) ? 'a setting' : undefined
}

function isPublic(text: string): boolean {
  if (PUBLIC_PEM.test(text) || AGE_RECIPIENT.test(text)) return true
  const lines = text.split('\n').filter(line => line.trim() !== '' && !line.startsWith('#'))
  return lines.length > 0 && lines.every(line => SSH_LINE.test(line.trim()))
}

const isDotenv = (text: string): boolean =>
  text.split('\n').every(line => /^\s*(?:#.*|(?:export )?[\w.-]{1,100}=.*)?$/.test(line))

function pairsOf(text: string): [name: string, value: string][] {
  return text.split('\n').flatMap((line): [string, string][] => {
    if (/^\s*(?:#|$)/.test(line)) return []
    const [, name, value = ''] = /^\s*(?:export )?([\w.-]{1,100})=(.*)$/.exec(line) ?? []
    return name === undefined ? [['', line]] : [[name, value.trim().replace(/^(["'])(.*)\1$/, '$2')]]
  })
}

const isHarmlessPair = (name: string, value: string): boolean =>
  value === '' || harmlessValue(name, value) !== undefined
