/** A credential that is recognizable by its form alone. */
interface Form {
  readonly what: string
  /** Linear in the text: a fixed beginning, then characters of one class. */
  readonly pattern: RegExp
}

const BODY = '[A-Za-z0-9+/=\\s\\\\:,.-]'

/**
 * Only forms that do not occur by accident: each begins with letters that its issuer chose to be found. Placeholders
 * are too short for them.
 */
const FORMS: readonly Form[] = [
  {
    what: 'a private key',
    pattern: new RegExp(`-----BEGIN (?:(?:RSA|EC|DSA|OPENSSH) )?PRIVATE KEY-----${BODY}{64}`),
  },
  { what: 'a private key of PGP', pattern: new RegExp(`-----BEGIN PGP PRIVATE KEY BLOCK-----${BODY}{64}`) },
  { what: 'an age key', pattern: /AGE-SECRET-KEY-1[0-9A-Z]{58}/ },
  { what: 'a token of GitHub', pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{50})/ },
  { what: 'a token of GitLab', pattern: /\bglpat-[A-Za-z0-9_-]{20}/ },
  { what: 'an API key of Google', pattern: /\bAIza[0-9A-Za-z_-]{35}\b/ },
  { what: 'an account key of Azure', pattern: /\bAccountKey=[A-Za-z0-9+/]{86}==/ },
  { what: 'a token of Slack', pattern: /\bxox[abeoprs]-[0-9A-Za-z-]{20}/ },
  {
    what: 'a webhook of Slack',
    pattern: /hooks\.slack\.com\/services\/T[A-Z0-9]{6,12}\/B[A-Z0-9]{6,12}\/[A-Za-z0-9]{16}/,
  },
  { what: 'a key of Stripe', pattern: /\b[rs]k_live_[0-9A-Za-z]{24}/ },
  { what: 'a token of a package registry', pattern: /\b(?:npm_[A-Za-z0-9]{36}|pypi-AgEI[A-Za-z0-9_-]{40})/ },
  { what: 'a token of Docker', pattern: /\bdckr_pat_[A-Za-z0-9_-]{20}/ },
  { what: 'a token of Vault', pattern: /\bhv[sb]\.[A-Za-z0-9_-]{24}/ },
  { what: 'a key of SendGrid', pattern: /\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}/ },
  { what: 'a token of DigitalOcean', pattern: /\bdo[opr]_v1_[a-f0-9]{64}/ },
  { what: 'a key of OpenAI or Anthropic', pattern: /\bsk-(?:proj|svcacct|ant-api03)-[A-Za-z0-9_-]{40}/ },
  {
    what: 'a JSON Web Token',
    pattern: /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,4000}\.eyJ[A-Za-z0-9_-]{10,8000}\.[A-Za-z0-9_-]{20}/,
  },
  { what: 'a client key of a kubeconfig', pattern: /\bclient-key-data["']?:\s{0,4}["']?[A-Za-z0-9+/]{64}/ },
  { what: 'a login of a registry', pattern: /"auth"\s{0,4}:\s{0,4}"[A-Za-z0-9+/]{8,4000}={0,2}"/ },
  {
    what: 'a secret access key of AWS',
    pattern: /\baws_?secret_?(?:access_?)?key["']?\s{0,4}[:=]\s{0,4}["']?[A-Za-z0-9/+]{40}\b/i,
  },
]

/** One test for all of them, so that most text is skipped after one pass. */
const ANY = new RegExp(
  [
    'PRIVATE KEY',
    'AGE-SECRET-KEY-',
    'gh[pousr]_',
    'github_pat_',
    'glpat-',
    'AIza',
    'AccountKey=',
    'xox[abeoprs]-',
    'hooks\\.slack\\.com',
    'k_live_',
    'npm_|pypi-',
    'dckr_pat_',
    'hv[sb]\\.',
    'SG\\.',
    '_v1_',
    'sk-',
    'eyJ',
    'client-key-data',
    '"auth"',
    '[sS][eE][cC][rR][eE][tT]',
    'LS0tLS1CRUdJTi',
  ].join('|'),
)

/** Base64 of `-----BEGIN `, at the three places of a byte group where it can begin only the first is usual. */
const ENCODED = /LS0tLS1CRUdJTi[A-Za-z0-9+/\r\n]{100}/

/** Whether a text may hold one of them: quick, and yes rather than no. */
export const mayHoldCredential = (text: string): boolean => text.length >= 20 && ANY.test(text)

/** What kind of credential stands in a text, and where; undefined where none does. Takes time in proportion to the text. */
export function credentialIn(text: string): { readonly what: string; readonly index: number } | undefined {
  if (!mayHoldCredential(text)) return undefined
  for (const { what, pattern } of FORMS) {
    const match = pattern.exec(text)
    if (match) return { what, index: match.index }
  }
  const encoded = ENCODED.exec(text)
  if (!encoded) return undefined
  const inner = Buffer.from(encoded[0], 'base64').toString('latin1')
  return /PRIVATE KEY(?: BLOCK)?-----/.test(inner) ? { what: 'a private key', index: encoded.index } : undefined
}

/** Endings of names, without separators, that mark the value as a credential. */
const ENDINGS =
  'password passwd passphrase apikey clientsecret accesstoken authtoken bearertoken apitoken privatekey secretaccesskey'.split(
    ' ',
  )
/** Values that describe how to get a secret, or that there is none. */
const WORDS = new Set('none null nil true false disabled enabled required optional yes no env file vault'.split(' '))

/** Whether something of this name is a credential: `rootPassword`, `DB_PASSWORD`, `api-key`; not `password_policy`. */
export function isCredentialName(name: string): boolean {
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '')
  return ENDINGS.some(ending => plain.endsWith(ending))
}

/** Whether text is the credential itself: not empty, a reference, a path, a placeholder or a sentence. */
export function isLiteral(text: string): boolean {
  if (isPlaceholder(text)) return false
  if (text.length < 3 || text.length > 4096 || WORDS.has(text.toLowerCase())) return false
  if (/\s|\$\{|\$\(|\{\{|^[/<~.$]|^(?:file|vault|op|ref\+|secret|secretref|env|arn|awssm):/i.test(text)) return false
  return !/^(?:x{3,}|\*{3,}|\.{3,}|ENC\[.*)$/i.test(text)
}

const ASSIGNMENT =
  /^[ \t]{0,40}(?:export )?([\w.-]{1,100})[ \t]{0,10}[=:][ \t]{0,10}["']?([^\s"']{1,4096})["']?[ \t\r]{0,10}$/

const MAX_LINE = 4_400

/** The name of the first line that assigns a credential: `db.password=hunter2` in properties, .env, ini or YAML. */
export function assignedCredential(text: string): string | undefined {
  if (!/passw|passph|key|token|secret/i.test(text)) return undefined
  for (const line of text.split('\n')) {
    // a name, a value and what may stand around them are no longer
    if (line.length > MAX_LINE) continue
    const [, name, value] = ASSIGNMENT.exec(line) ?? []
    if (name !== undefined && value !== undefined && isCredentialName(name) && isLiteral(value)) return name
  }
  return undefined
}

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

/** A variable of Flux (`${X}`), of another program (`${db-password}`), of Kubernetes (`$(X)`) or of a template (`{{ .x }}`); the default of one is in the first group. */
const VARIABLE =
  /\$\{[a-z][a-z0-9]{0,60}(?:[-./][a-z0-9]{1,60}){1,10}\}|\$?\$\{\w{1,200}(?::?[=-]([^}]{0,2000}))?\}|\$\([\w.-]{1,200}\)|\{\{[^{}]{1,500}\}\}/g

/** Texts that stand for a value that is filled in later. A weak password, as `changeme`, is none of them. */
const PLACEHOLDER =
  /^(?:<[^<>]{1,200}>|\[(?:your|insert|replace|redacted)[^[\]]{0,100}\]|x{3,}|\*{3,}|\.{3,}|_{3,}|-{3,}|todo|tbd|fixme|n\/?a|null|none|nil|redacted|placeholder|replace[-_ ]?(?:me|this|with[-_ ].{1,100})|(?:to[-_ ]be|will[-_ ]be)[-_ ](?:replaced|filled|set)[\w -]{0,60}|(?:your|insert|put)[-_ ][\w -]{0,80}(?:here|goes[-_ ]here)|your[-_](?:[\w-]{0,60}[-_])?(?:password|passwd|token|key|secret))$/i

/** References that another program resolves before the value is used. */
const REFERENCE = /^(?:vault|ref\+\w{1,20}|op|awssm|gcpsm|azurekv|secretref):[^\s]{1,500}$/i

/** Whether the value is still to be filled in, or only names where it is. */
export const isPlaceholder = (text: string): boolean => PLACEHOLDER.test(text) || REFERENCE.test(text)

/** The literal part of a text: without its variables, but with their defaults in git. */
export function literalPart(text: string): string {
  if (!/[${]/.test(text)) return text
  return text.replace(VARIABLE, (_variable, fallback: string | undefined) => fallback ?? '')
}
