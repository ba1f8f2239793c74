import { FLOAT, parseInteger } from '../../kube/yaml/resolve-scalar.ts'

/** Where a scalar is written. */
interface Place {
  /** Column behind the text that comes before on its line. */
  readonly column: number
  /** Columns that its further lines are indented. */
  readonly indent: number
  /** The key of a map: it stays on one line. */
  readonly key: boolean
}

/** A scalar as it stands in the text; `text` starts behind the space that comes before it. */
export interface Emitted {
  readonly text: string
  readonly style: 'plain' | 'single' | 'double' | 'literal'
}

/** Columns behind which go-yaml v2 breaks a line at the next space. */
const WIDTH = 80

/**
 * A text as sigs.k8s.io/yaml writes it (the emitter of go-yaml v2): what Flux substitutes variables in. Line breaks in a
 * long text are part of what the template reader sees.
 */
export function emitScalar(value: string, place: Place): Emitted {
  if (value === '') return { text: '""', style: 'double' }
  const styles = analyseScalar(value)
  if (value.includes('\n')) {
    if (styles.literal && !place.key) return { text: literal(value, place.indent), style: 'literal' }
  } else if (isTextWhenPlain(value)) {
    if (styles.plain) return { text: plain(value, place), style: 'plain' }
    if (styles.single) return { text: single(value, place), style: 'single' }
  }
  return { text: double(value, place), style: 'double' }
}

/** Whether the key of a map is written before its colon; a long one, or one of several lines, gets a question mark. */
export function isSimpleKey(key: string): boolean {
  return !/[\r\n]/.test(key) && Buffer.byteLength(key) <= 128
}

/** Numbers in base 60 are quoted too, for readers that know them. */
function isTextWhenPlain(value: string): boolean {
  if (/^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/.test(value)) return false
  return readPlain(value).type === 'text'
}

function plain(value: string, place: Place): string {
  return place.key ? value : broken([...value], place, 'plain')
}

function single(value: string, place: Place): string {
  const characters = [...value].map(character => (character === "'" ? "''" : character))
  return `'${place.key ? characters.join('') : broken(characters, place, 'single')}'`
}

function double(value: string, place: Place): string {
  const characters = [...value].map(escaped)
  return `"${place.key ? characters.join('') : broken(characters, place, 'double')}"`
}

/** Writes a line break in place of the first space behind the width, as often as it takes. */
function broken(characters: readonly string[], place: Place, style: 'plain' | 'single' | 'double'): string {
  const out: string[] = []
  let column = place.column + (style === 'plain' ? 1 : 2)
  let spaces = false
  for (const [index, character] of characters.entries()) {
    const next = characters[index + 1]
    const inside = style === 'plain' || (index > 0 && next !== undefined)
    const isSpace = character === ' '
    if (isSpace && !spaces && inside && column > WIDTH && (style === 'double' || next !== ' ')) {
      const joint = next === ' ' ? '\\' : ''
      out.push(`\n${' '.repeat(place.indent)}${joint}`)
      column = place.indent + joint.length
    } else {
      out.push(character)
      column += character.length
    }
    spaces = isSpace
  }
  return out.join('')
}

function literal(value: string, indent: number): string {
  const hint = /^[ \n]/.test(value) ? '2' : ''
  const chomp = !value.endsWith('\n') ? '-' : value === '\n' || value.endsWith('\n\n') ? '+' : ''
  const content = value.endsWith('\n') ? value.slice(0, -1) : value
  const lines = content.split('\n').map(line => (line === '' ? '' : ' '.repeat(indent) + line))
  return [`|${hint}${chomp}`, ...lines].join('\n')
}

const ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '\0': '0',
    '\x07': 'a',
    '\b': 'b',
    '\t': 't',
    '\n': 'n',
    '\v': 'v',
    '\f': 'f',
    '\r': 'r',
    '\x1b': 'e',
    '"': '"',
    '\\': '\\',
  }),
)

function escaped(character: string): string {
  const short = ESCAPES.get(character)
  if (short !== undefined) return `\\${short}`
  const code = character.codePointAt(0)!
  if (code > 0xffff) return `\\U${hex(code, 8)}`
  return code < 0x20 ? `\\x${hex(code, 2)}` : character
}

const hex = (code: number, digits: number): string => code.toString(16).toUpperCase().padStart(digits, '0')

/** In which styles a text can be written as YAML. */
interface Styles {
  readonly plain: boolean
  readonly single: boolean
  readonly literal: boolean
}

/** Characters with a meaning where a plain scalar starts. */
const START = new Set(',[]{}#&*!|>\'"%@`')
const PRINTABLE = /^[\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]$/u

/**
 * Which styles hold a text that is not empty, as the emitter of go-yaml v2 decides (yaml_emitter_analyze_scalar), which
 * kustomize writes an object with before Flux substitutes in it. A tab and every character beyond U+FFFF need escapes.
 */
function analyseScalar(value: string): Styles {
  const special = [...value].some(character => !PRINTABLE.test(character))
  const spaceBreak = value.includes(' \n')
  const breakSpace = value.includes('\n ')
  const multiline = /[\r\n]/.test(value)
  const edge = /^[ \r\n]|[ \r\n]$/.test(value)
  const unsafe = special || spaceBreak
  return {
    plain: !unsafe && !multiline && !edge && !hasIndicators(value),
    single: !unsafe && !breakSpace,
    literal: !unsafe && !value.endsWith(' '),
  }
}

function hasIndicators(value: string): boolean {
  const first = value.charAt(0)
  if (value.startsWith('---') || value.startsWith('...') || START.has(first)) return true
  if ('-?:'.includes(first) && /^[ \t]?$/.test(value.charAt(1))) return true
  return /:(?:[ \t]|$)|[ \t]#/.test(value)
}

/** What a plain scalar is for go-yaml v2. */
export type Plain =
  | { readonly type: 'null' }
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'number'; readonly value: number; readonly float: boolean }
  /** What looks like a time stays text, but is quoted where it is written. */
  | { readonly type: 'text' | 'time' }
  | { readonly type: 'infinite' }

const TEXT: Plain = { type: 'text' }
const INFINITE: Plain = { type: 'infinite' }

const KNOWN: ReadonlyMap<string, Plain> = new Map<string, Plain>([
  ...words('y Y yes Yes YES true True TRUE on On ON', { type: 'boolean', value: true }),
  ...words('n N no No NO false False FALSE off Off OFF', { type: 'boolean', value: false }),
  ...words('~ null Null NULL', { type: 'null' }),
  ...words('.nan .NaN .NAN .inf .Inf .INF +.inf +.Inf +.INF -.inf -.Inf -.INF', INFINITE),
  ['', { type: 'null' }],
])

function words(text: string, plain: Plain): [string, Plain][] {
  return text.split(' ').map(word => [word, plain])
}

/**
 * What sigs.k8s.io/yaml reads for a plain scalar (resolve.go of go.yaml.in/yaml/v2, YAML 1.1): `yes` and `on` are
 * booleans, `0o17` and `017` are 15, a date stays text. Numbers have the precision of a float64, which Flux passes them
 * through.
 */
export function readPlain(text: string): Plain {
  const known = KNOWN.get(text)
  if (known) return known
  const first = text.charAt(0)
  if (first === '.') return /^\.[0-9]+(?:[eE][-+]?[0-9]+)?$/.test(text) ? float(text) : TEXT
  if (first === '' || !'+-0123456789'.includes(first)) return TEXT
  if (isTime(text)) return { type: 'time' }
  const digits = text.replaceAll('_', '')
  const whole = parseInteger(digits)
  if (whole !== undefined) return { type: 'number', value: Number(whole), float: false }
  if (FLOAT.test(digits)) return float(digits)
  // a number for go-yaml by an accident of its own
  return /^0b[-+][01]+$/.test(digits) ? INFINITE : TEXT
}

function float(digits: string): Plain {
  const value = Number(digits)
  // a number that is too large is not a number for Go
  return Number.isFinite(value) ? { type: 'number', value: value === 0 ? 0 : value, float: true } : TEXT
}

/** The forms of parseTimestamp; whether there is such a day only decides about quotes, so it is not asked. */
const isTime = (text: string): boolean =>
  /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})| [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]+)?)?$/.test(
    text,
  )
