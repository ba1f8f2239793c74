import { analyseScalar } from './analyse-scalar.ts'
import { readPlain } from './read-plain.ts'

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
