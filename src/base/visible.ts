/** Control, format, bidi, combining, private and unpaired characters, and every space but U+0020: what a reader cannot see or trust. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{M}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu

/**
 * One line of text that shows what it holds: characters that hide, reorder or break lines become `\u{202e}`, and what is
 * longer than `max` characters ends in a note of how much was left out. Addresses lose their logins. Safe for terminals and log lines; not for
 * Markdown.
 */
export function visible(value: string, max = 300): string {
  // twice the cap is enough for every visible form, and a hostile megabyte is never scanned
  const head = value.slice(0, max * 2)
  const shown = withoutLogins(head).replace(UNSEEN, char => `\\u{${char.codePointAt(0)!.toString(16)}}`)
  if (shown.length <= max && head.length === value.length) return shown
  return `${shown.slice(0, max).replace(/[\uD800-\uDBFF]$/, '')}… (${value.length} characters)`
}

/** The login before the host, except the user that every git server has. */
const LOGIN = /(?<=:\/\/)(?!git@)[^\s/"'<>\\]+(?=@)/g
const TOKEN = /(?<=[?&][\w-]{0,40}(?:token|secret|password|passwd|sig|signature|api[-_]?key)=)[^\s&"'<>\\]+/gi

/** A text whose addresses have neither logins nor tokens in them. What it replaces ends no text in JSON. Linear in the text. */
export function withoutLogins(text: string): string {
  return text.includes('://') ? text.replace(LOGIN, '***').replace(TOKEN, '***') : text
}

const HIDDEN = '***'

/** Endings of names whose values are credentials: `DB_PASSWORD`, `clientSecret`, `client-key-data`. */
const NAMES =
  '(?:pass(?:word|wd|phrase)|pwd|token|secret|(?:api|private|access|account|secret)[-_.]?key(?:[-_.]?base)?|key-data|credentials?|authorization|bearer|\\bauth)'
/** What gives a name its value, in JSON inside of JSON too. */
const GIVES = '\\\\?["\']?[ \\t]{0,40}[:=][ \\t]{0,40}'
const QUOTED = '\\\\"[^"]*"?|"(?:[^"\\\\]|\\\\.)*"?|\'[^\']*\'?'

const assigned = (plain: string): RegExp =>
  new RegExp(`(?<=${NAMES}${GIVES})(?!(?:true|false|null)(?![^\\s,}]))(?:${QUOTED}|${plain})`, 'gi')

/** Forms of credentials that are worth hiding wherever they turn up; each is linear in the text. */
const FORMS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{1,40}-----[^-]*(?:-----END [A-Z ]{1,40}-----)?/g,
  // the same in base64, as kubeconfigs have it
  /LS0tLS1CRUdJTi[\w+/=-]*/g,
  /AGE-SECRET-KEY-[A-Z0-9-]+/gi,
  /\b(?:gh[pousr]_|github_pat_)\w+/g,
  /\b(?:glpat-|xox[abeoprs]-|[rs]k_live_|npm_|pypi-|dckr_pat_|hv[sb]\.|SG\.|do[opr]_v1_|sk-(?:proj|svcacct|ant-api03)-|AIza)[\w.-]{16,}/g,
  /(?<=hooks\.slack\.com\/services\/)[\w/]+/g,
  /\beyJ[\w-]+\.[\w-]+\.[\w-]*/g,
  /(?<=:\/\/)[^\s/"'<>]+(?=@)/g,
  /(?<=[?&](?:sig|signature|x-amz-signature|key|code)=)[^\s&"']+/gi,
  /(?<=\bbearer )[\w.~+/=-]{12,}/gi,
  new RegExp(`(?<=--[\\w-]{0,40}${NAMES} )[^\\s-]\\S*`, 'gi'),
]
const CREDENTIALS = [...FORMS, assigned('(?:(?:bearer|basic|digest) )?[^\\s"\'}]+')]
const CREDENTIAL_LINES = [...FORMS, assigned('[^\\s"\'][^\\n]*')]

/** What is assigned to the name of a credential is hidden to the end of the line: the end of a password is unknown. */
function redactLine(text: string): string {
  let out = text
  for (const pattern of CREDENTIAL_LINES) out = out.replace(pattern, HIDDEN)
  return out
}

const OPENS_BLOCK = new RegExp(`${NAMES}${GIVES}(?:[|>][-+\\d]{0,2}[ \\t]*)?$`, 'i')

/** Lines of a foreign text without credentials and without YAML blocks under the name of one. */
export function redactLines(lines: readonly string[]): string[] {
  let within: number | undefined
  return lines.map(line => {
    const indent = line.length - line.trimStart().length
    if (within !== undefined && line.trim() !== '' && indent <= within) within = undefined
    if (within !== undefined) return line.trim() === '' ? line : `${line.slice(0, indent)}${HIDDEN}`
    if (OPENS_BLOCK.test(line)) within = indent
    return redactLine(line)
  })
}

interface Named {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/** Base64 of 24 and more characters that is not a hexadecimal digest. */
const ENCODED = /[A-Za-z0-9+/_-]{24,}={0,2}/g

/**
 * A message of the API server without anything that looks like a secret value: of a Secret every quoted text but its own
 * name is hidden, elsewhere what has the form of a credential. Errors of the server quote the values that they refuse.
 */
export function redact(message: string, object?: Named): string {
  let out = message.slice(0, 4000)
  for (const pattern of CREDENTIALS) out = out.replace(pattern, HIDDEN)
  if (object?.kind !== 'Secret') return out
  const own = new Set([object.name, object.namespace, object.apiVersion, object.kind, 'v1', 'secrets', ''])
  return out
    .replace(/(["'`])((?:\\.|(?!\1)[^\\])*)\1/g, (whole, quote: string, text: string) =>
      own.has(text) || text.startsWith('system:serviceaccount:') ? whole : `${quote}${HIDDEN}${quote}`,
    )
    .replace(ENCODED, text => (own.has(text) || /^[0-9a-f]+$/.test(text) ? text : HIDDEN))
}
