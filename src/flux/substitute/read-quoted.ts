import { ESCAPES } from '../../kube/yaml/escapes.ts'

/** How a text between quotes is read, as far as this module reads it. */
interface Quoted {
  readonly value: string
  /** What stands behind the closing quote. */
  readonly rest: string
}

/** go-yaml v2 takes the next line, too, which our own reader of files refuses. */
const SIMPLE: ReadonlyMap<string, string> = new Map([...ESCAPES, ['N', '\u0085'], ['L', '\u2028'], ['P', '\u2029']])

/**
 * The value of a quoted scalar at the start of `text`, as go-yaml v2 reads it: a line break becomes a space, further ones
 * stay. Undefined for what it refuses: no closing quote, an unknown escape; and for an escaped line break.
 */
export function readQuoted(text: string): Quoted | undefined {
  const quote = text.charAt(0)
  const out: string[] = []
  let at = 1
  while (at < text.length) {
    const character = text.charAt(at)
    const blanks = matchAt(/[ \t\n]+/y, text, at)
    if (blanks !== '') {
      at += blanks.length
      out.push(folded(blanks))
    } else if (character === quote && quote === "'" && text.charAt(at + 1) === "'") {
      out.push("'")
      at += 2
    } else if (character === quote) {
      return { value: out.join(''), rest: text.slice(at + 1) }
    } else if (character === '\\' && quote === '"') {
      const read = readEscape(text, at)
      if (!read) return undefined
      out.push(read.value)
      at += read.length
    } else {
      const plain = matchAt(/[^ \t\n'"\\]+|['"\\]/y, text, at)
      out.push(plain)
      at += plain.length
    }
  }
  return undefined
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ''
}

function folded(blanks: string): string {
  const breaks = blanks.split('\n').length - 1
  return breaks === 0 ? blanks : breaks === 1 ? ' ' : '\n'.repeat(breaks - 1)
}

function readEscape(text: string, at: number): { value: string; length: number } | undefined {
  const letter = text.charAt(at + 1)
  const simple = SIMPLE.get(letter)
  if (simple !== undefined) return { value: simple, length: 2 }
  const digits = { x: 2, u: 4, U: 8 }[letter]
  const code = digits === undefined ? '' : text.slice(at + 2, at + 2 + digits)
  if (!/^[0-9a-fA-F]+$/.test(code) || code.length !== digits) return undefined
  const value = Number.parseInt(code, 16)
  if ((value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff) return undefined
  return { value: String.fromCodePoint(value), length: 2 + digits }
}
