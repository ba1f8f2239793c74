import { at, type Node, type Path } from '../../kube/node.ts'
import { credentialIn, isCredentialName, isLiteral, isPlaceholder, literalPart, urlSecret } from './credential-text.ts'
import { isSopsFile, isSopsValue } from './sops-values.ts'

/** A value of a Secret that is not encrypted; `harmless`: why it still is not a secret. */
export interface OpenValue {
  readonly path: Path
  readonly harmless?: Harmless
}

/** The values of a Secret that are not encrypted; `sealed`: it carries the block that SOPS leaves. */
export function* openValues(secret: Node, sealed: boolean): Iterable<OpenValue> {
  for (const part of ['data', 'stringData']) {
    const values = at(secret, [part])
    if (!values || isEmpty(values)) continue
    if (values.type !== 'map') {
      yield { path: [part] }
      continue
    }
    for (const [key, { value }] of values.fields) {
      if (isEmpty(value) || isEncrypted(value, part, sealed)) continue
      const harmless = harmlessOf(key, value, part)
      yield { path: [part, key], ...(harmless ? { harmless } : {}) }
    }
  }
}

/** Nothing but variables, without a default that would stand in git. */
const VARIABLES = /^(?:\$\{\w+\})+$/

const isEmpty = (node: Node) => node.type === 'scalar' && (node.value === null || node.value === '')

function isEncrypted(node: Node, part: string, sealed: boolean): boolean {
  if (node.type !== 'scalar' || typeof node.value !== 'string') return false
  const content = Buffer.from(node.value, part === 'data' ? 'base64' : 'utf8')
  // Flux moves stringData into data before it applies, so ciphertext may be there as it is or in base64.
  if (sealed && (isSopsValue(node.value) || isSopsValue(content.toString('utf8')))) return true
  // a line of an encrypted env file, which Flux decrypts before it builds
  if (node.opaque?.length === 0 && isSopsValue(content.toString('utf8'))) return true
  // a value that only the cluster has is not readable in git
  if (node.opaque && [node.value, content.toString('utf8')].some(text => VARIABLES.test(text))) return true
  // A generator puts a whole encrypted file into one key; Flux decrypts the file before it builds.
  return isSopsFile(content)
}

function harmlessOf(key: string, node: Node, part: string): Harmless | undefined {
  if (node.type !== 'scalar') return undefined
  const text = String(node.value)
  if (part === 'stringData') return harmlessValue(key, text)
  // what Flux substitutes into data stands there before base64
  const asWritten = harmlessValue(key, text)
  if (asWritten === 'a variable' || asWritten === 'a placeholder') return asWritten
  const content = Buffer.from(text, 'base64')
  // binary data may be a key store
  return content.length > 0 && isText(content) ? harmlessValue(key, content.toString('utf8')) : undefined
}

const isText = (bytes: Buffer): boolean => {
  const text = bytes.toString('utf8')
  return !text.includes('\ufffd') && !text.includes('\0')
}

/** Why a value of a Secret that is not encrypted still is not a secret, for messages. */
type Harmless = 'a variable' | 'a placeholder' | 'a public key or certificate' | 'a setting' | 'a file of settings'

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
/** Keys whose value is always a secret. */
const ITSELF = /(?:password|passwd|passphrase|pass|pwd|pw|secret|token|key|pin)$/i
const QUANTITY = /^\d{1,9}(?:ms|s|m|h|d|[kMGT]i?|%)$/
/** A host by its name, also in an address with plain words behind it: anything else there may be for those who know it. */
const ADDRESS =
  /^(?:(?:https?:\/\/)?(?:[a-z0-9](?:[a-z0-9-]{0,62})\.){1,10}[a-z]{2,24}(?::\d{1,5})?(?:\/(?:[a-z]{1,30}(?:-[a-z]{1,30}){0,5}|v\d{1,2})){0,10}\/?|(?:\d{1,3}\.){3}\d{1,3}(?:[:/]\d{1,5})?|[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,5}[a-z]{2,24})$/i
const MAX_SETTING = 512

/**
 * Why a plain value of a Secret, known by its key, is not secret; undefined: it is treated as one. A value whose key
 * and form tell nothing is a secret, and so is a weak password.
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

const EXTENSION =
  /\.(?:ya?ml|json|json5|toml|ini|conf|cfg|config|cnf|properties|xml|tpl|tmpl|hcl|tf|rules|sql|sh|lua|js|ts|py|html?|css|md)$/i
const LINE = /^\s*(?:[#;]|\/\/|\[|[{}]|-\s|-$|"?[\w./-]{1,200}"?\s*[:=])/
/** Names that end so besides those of isCredentialName. */
const ALSO = /(?:pass|pwd|secret|token|auth|encryptionkey|signingkey|masterkey|accountkey|secretkey)$/
const NO_VALUE = /(?:existing|pull|image|use|has|enable|create|rotate).{0,40}secret$|^(?:secret|auth)$/
const PAIR =
  /(?<![\w.-])([\w.-]{1,100})["']?[ \t]{0,10}[:=][ \t]{0,10}(?:"([^"\n]{1,4096})"|'([^'\n]{1,4096})'|([^\s,;{}[\]"'#&][^\s,;}\]"'#&]{0,4095}))/g
const DIRECTIVE = /^[ \t]{0,40}(?:--?)?([\w.-]{1,100})[ \t]{1,10}["']?([^\s"']{1,4096})/
/** What client-go reads, which asks for no kind. */
const KUBECONFIG = [/["']?clusters["']?\s{0,10}:/, /["']?users["']?\s{0,10}:/]
const CERTIFICATE =
  /-----BEGIN (?:CERTIFICATE|PUBLIC KEY)-----[A-Za-z0-9+/=\s]{0,20000}-----END (?:CERTIFICATE|PUBLIC KEY)-----/g
const ENCODED_CERTIFICATE = /LS0tLS1CRUdJTiB(?:DRVJUSUZJQ0FURS|QVUJMSUMgS0VZ)[A-Za-z0-9+/=]{0,40000}/g

/** Whether a value is a settings file, by its name or by every line. */
function isConfigText(key: string, text: string): boolean {
  if (!text.trim().includes('\n')) return EXTENSION.test(key)
  return EXTENSION.test(key) || text.split('\n').every(line => line.trim() === '' || LINE.test(line))
}

/** Whether a settings file contains a plain secret: by its form, by a name, in an address, or by its randomness. */
function holdsSecret(file: string): boolean {
  // a kubeconfig gives its holder the identity that it names
  if (KUBECONFIG.every(part => part.test(file))) return true
  // a file that SOPS encrypted in part is not a settings file
  if (/ENC\[AES256_GCM|\bsops_(?:mac|version)\b|^sops:/m.test(file) || credentialIn(file)) return true
  const text = literalPart(file.replace(CERTIFICATE, '').replace(ENCODED_CERTIFICATE, ''))
  return text.split('\n').some(line => !/^\s*(?:#|\/\/)/.test(line) && isSecretLine(line))
}

function isSecretLine(line: string): boolean {
  if (line.length > 20_000) return true
  if (urlSecret(line) || looksRandom(line)) return true
  for (const [, name = '', double, single, bare] of line.matchAll(PAIR)) {
    if (isSecretName(name) && isLiteral((double ?? single ?? bare ?? '').replace(/\s/g, '_'))) return true
  }
  const [, word = '', value = ''] = DIRECTIVE.exec(line) ?? []
  return isSecretName(word) && !/^[:=]/.test(value) && isLiteral(value)
}

function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '')
  return isCredentialName(name) || (ALSO.test(plain) && !NO_VALUE.test(plain))
}

/** Words anywhere in a name that mark the value as a secret. */
const SECRET = new Set(
  (
    'password passwd passphrase passcode pass pwd pw secret secrets token tokens key keys apikey accesskey secretkey ' +
    'privatekey credential credentials creds private salt pepper cookie session otp totp pin seed mnemonic signature jwt ' +
    'bearer hmac webhook webhooks htpasswd auth dockercfg dockerconfigjson kubeconfig keystore truststore license licence'
  ).split(' '),
)

/** Last words of a name that mark the value as about a secret, or as not secret. */
const SETTING = new Set(
  (
    'host hostname hosts server servers port ports db dbname database schema user username login email mail ' +
    'name namespace region zone bucket image repository tag version replicas enabled disabled url uri urls endpoint ' +
    'endpoints domain path file filename dir directory folder mode type kind protocol scheme sslmode ssl tls level ' +
    'timezone tz locale lang language cluster org organization organisation project issuer audience scope scopes realm ' +
    'provider driver engine dialect size count length limit timeout interval ttl expiry lifetime algorithm format prefix ' +
    'suffix class period concurrency reconciles workers threads retries attempts rate qps burst memory cpu percent weight ' +
    'priority days hours minutes seconds environment env debug from to sender subject title comment description'
  ).split(' '),
)

/** Services whose ids are only names: knowing one gives no rights. */
const NAMED_BY_ID = new Set(
  'client tenant subscription account project app application object zone org organization user team cluster directory'.split(
    ' ',
  ),
)

/** What the key of a Secret says about its value. */
function meaningOf(key: string): 'secret' | 'setting' | 'unknown' {
  const words = key
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(word => word !== '')
  const [last = '', before = ''] = [words.at(-1), words.at(-2)]
  const isSetting = SETTING.has(last) || (last === 'id' && NAMED_BY_ID.has(before))
  if (words.some(word => SECRET.has(word) || /(?:password|passwd|secret|token|apikey)$/.test(word))) {
    // the path of a key file is none; what is called webhook-url is one
    return isSetting && !words.some(word => word.startsWith('webhook')) && !ALSO_SECRET.has(last) ? 'setting' : 'secret'
  }
  return isSetting ? 'setting' : 'unknown'
}

/** After a word for secrets these words change nothing: `token-value`, `secret-string`, `auth-user`. */
const ALSO_SECRET = new Set(
  'id user username login to from tag image subject title comment description class env'.split(' '),
)

const TOKEN = /[A-Za-z0-9+/_=-]{20,4096}/g
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi
/** Content hashes, which are meant to be public. */
const DIGEST = /\b(?:sha(?:1|224|256|384|512)|md5|h1)[:-][A-Za-z0-9+/=]{20,128}/gi
/** Bits for each character; words of any language that people name things in stay below. */
const ENTROPY = 3.2

/** Whether a part of a text looks as if a generator made it: long, of letters and digits, and without a pattern. */
function looksRandom(text: string): boolean {
  const rest = text.replace(UUID, ' ').replace(DIGEST, ' ')
  for (const [token] of rest.matchAll(TOKEN)) {
    for (const part of token.split(/[-_/=]+/)) if (isRandom(part)) return true
    // base64 for addresses has dashes and underscores in it
    if (/^[A-Za-z0-9+_]{20,}={0,2}$/.test(token) && /[A-Z]/.test(token) && /[a-z]/.test(token) && isRandom(token))
      return true
  }
  return false
}

function isRandom(part: string): boolean {
  if (part.length < 20 || !/[0-9]/.test(part) || !/[A-Za-z]/.test(part)) return false
  const counts = new Map<string, number>()
  for (const char of part) counts.set(char, (counts.get(char) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / part.length) * Math.log2(count / part.length)
  return bits >= ENTROPY
}
