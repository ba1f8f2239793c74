/** A credential that shows by its form alone what it is. */
interface Form {
  readonly what: string
  /** Linear in the text: a fixed beginning, then characters of one class. */
  readonly pattern: RegExp
}

const BODY = '[A-Za-z0-9+/=\\s\\\\:,.-]'

/**
 * Only what nobody writes by accident: each form begins with letters that its issuer chose for being found. Placeholders
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

/** One test for all of them, so that text without any is passed over once. */
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
