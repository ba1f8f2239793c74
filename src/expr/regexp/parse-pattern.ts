import * as part from './pattern-part.ts'
import { type CharacterSet, PatternError, perlSet, posixSet, range, refuseInvalid, unicodeSet } from './pattern-part.ts'

interface Flags {
  /** `i`: letters in any case. */
  readonly fold: boolean
  /** `m`: `^` and `$` at every line. */
  readonly lines: boolean
  /** `s`: a dot is any character. */
  readonly dotAll: boolean
  /** `U`: repetitions are lazy, and those with `?` behind them are not. */
  readonly lazy: boolean
}

const MAX_LENGTH = 1_000
const MAX_COUNT = 1_000

/**
 * What a regular expression consists of, read as Go's regexp.Compile reads it. Throws PatternError: `invalid` where Go
 * refuses the pattern, too.
 */
export function parsePattern(pattern: string): part.PatternPart {
  if (pattern.length > MAX_LENGTH) throw new PatternError(`more than ${MAX_LENGTH} characters`, false)
  return new PatternParser(pattern).parse()
}

class PatternParser {
  private readonly chars: readonly string[]
  private index = 0
  private flags: Flags = { fold: false, lines: false, dotAll: false, lazy: false }
  private groups = 0

  constructor(pattern: string) {
    this.chars = [...pattern]
  }

  parse(): part.PatternPart {
    const parsed = this.alternatives()
    if (this.index < this.chars.length) refuseInvalid('an unbalanced )')
    return parsed
  }

  private alternatives(): part.PatternPart {
    const parts = [this.sequence()]
    while (this.take('|')) parts.push(this.sequence())
    return parts.length === 1 ? parts[0]! : { kind: 'choice', parts }
  }

  private sequence(): part.PatternPart {
    const parts: part.PatternPart[] = []
    let repeated = false
    for (let char = this.peek(); char !== undefined && char !== '|' && char !== ')'; char = this.peek()) {
      const repetition = this.repetition()
      if (repetition) {
        if (repeated) refuseInvalid('a repetition of a repetition')
        const before = parts.pop() ?? refuseInvalid(`a ${char} that repeats nothing`)
        parts.push(checked({ ...repetition, part: before }))
      } else parts.push(...this.atoms())
      repeated = repetition !== undefined
    }
    return { kind: 'sequence', parts }
  }

  /** What repeats the part before it; a brace that counts nothing is text. */
  private repetition(): Omit<part.Repetition, 'part'> | undefined {
    const least = this.peek() === '+' ? 1 : 0
    let found: Omit<part.Repetition, 'part' | 'lazy'> | undefined
    if (this.take('*') || this.take('+')) found = { kind: 'repeat', least, most: undefined, counted: false }
    else if (this.take('?')) found = { kind: 'repeat', least: 0, most: 1, counted: false }
    else if (this.peek() === '{') found = this.counted()
    return found && { ...found, lazy: this.take('?') !== this.flags.lazy }
  }

  private counted(): Omit<part.Repetition, 'part' | 'lazy'> | undefined {
    const text = this.chars.slice(this.index).join('')
    const match = /^\{(0|[1-9][0-9]*)(?:(,)(0|[1-9][0-9]*)?)?\}/.exec(text)
    if (!match) return undefined
    this.index += match[0].length
    const least = Number(match[1])
    const most = match[2] ? (match[3] === undefined ? undefined : Number(match[3])) : least
    if (least > MAX_COUNT || (most !== undefined && (most > MAX_COUNT || most < least))) {
      refuseInvalid('a repeat count that is too large or reversed')
    }
    return { kind: 'repeat', least, most, counted: true }
  }

  private atoms(): part.PatternPart[] {
    const char = this.chars[this.index++]!
    if (char === '(') return this.group()
    if (char === '[') return [{ kind: 'char', accepts: this.set() }]
    if (char === '.') return [{ kind: 'char', accepts: this.flags.dotAll ? () => true : other => other !== '\n' }]
    if (char === '^') return [{ kind: 'assert', holds: this.flags.lines ? part.isLineStart : part.isStart }]
    if (char === '$') return [{ kind: 'assert', holds: this.flags.lines ? part.isLineEnd : part.isEnd }]
    return char === '\\' ? this.escape() : [this.literal(char)]
  }

  private literal(char: string): part.PatternPart {
    return { kind: 'char', accepts: this.flags.fold ? range(char, char, true) : other => other === char }
  }

  private group(): part.PatternPart[] {
    const { flags } = this
    const start = this.groups + 1
    if (!this.take('?')) this.groups++
    else if (this.isOnlyFlags()) return []
    const index = this.groups === start ? start : undefined
    const inner = this.alternatives()
    if (!this.take(')')) refuseInvalid('an unbalanced (')
    this.flags = flags
    return [index === undefined ? inner : { kind: 'group', index, part: inner }]
  }

  /** Behind `(?`: reads a name, or flags; whether those stand alone, for what follows. */
  private isOnlyFlags(): boolean {
    const rest = this.chars.slice(this.index).join('')
    const name = /^P?<([^>]*)>/.exec(rest)
    if (name) {
      if (!/^\w+$/.test(name[1]!)) refuseInvalid('an invalid group name')
      this.groups++
      this.index += [...name[0]].length
      return false
    }
    const match = /^([imsU]*)(?:-([imsU]+))?([:)])/.exec(rest)
    if (!match) return refuseInvalid('an unknown (? group')
    this.index += match[0].length
    const [, on = '', off = '', end] = match
    const flag = (letter: string, now: boolean): boolean => !off.includes(letter) && (on.includes(letter) || now)
    const { fold, lines, dotAll, lazy } = this.flags
    this.flags = {
      ...{ fold: flag('i', fold), lines: flag('m', lines) },
      ...{ dotAll: flag('s', dotAll), lazy: flag('U', lazy) },
    }
    return end === ')'
  }

  private escape(): part.PatternPart[] {
    const assertion = ASSERTIONS.get(this.peek() ?? '')
    if (assertion) {
      this.index++
      return [{ kind: 'assert', holds: assertion }]
    }
    if (this.take('Q')) return this.quoted()
    return [{ kind: 'char', accepts: this.namedSet() ?? range1(this.escaped(), this.flags.fold) }]
  }

  private quoted(): part.PatternPart[] {
    const rest = this.chars.slice(this.index).join('')
    const end = rest.indexOf('\\E')
    const text = [...(end < 0 ? rest : rest.slice(0, end))]
    this.index += text.length + (end < 0 ? 0 : 2)
    return text.map(char => this.literal(char))
  }

  private escaped(): string {
    const { char, length } = parseEscape(this.chars.slice(this.index))
    this.index += length
    return char
  }

  /** Behind a backslash: `\d` and `\p` and their like. */
  private namedSet(): CharacterSet | undefined {
    const letter = this.peek() ?? ''
    const { fold } = this.flags
    if (letter !== 'p' && letter !== 'P') {
      const set = perlSet(letter, fold)
      if (set) this.index++
      return set
    }
    const match = /^.(?:\{([^}]*)\}|([^{]))/su.exec(this.chars.slice(this.index).join(''))
    if (!match) refuseInvalid('a Unicode class without a name')
    this.index += [...match[0]].length
    return unicodeSet(match[1] ?? match[2]!, fold, letter === 'P')
  }

  private set(): CharacterSet {
    const negated = this.take('^')
    const sets: CharacterSet[] = []
    for (let first = true; first || !this.take(']'); first = false) {
      const posix = /^\[:(.*?):\]/s.exec(this.chars.slice(this.index).join(''))
      if (posix) {
        this.index += [...posix[0]].length
        sets.push(posixSet(posix[1]!, this.flags.fold))
      } else sets.push(this.setMember())
    }
    return char => sets.some(set => set(char)) !== negated
  }

  private setMember(): CharacterSet {
    if (this.take('\\')) {
      const named = this.namedSet()
      if (named) return named
      this.index--
    }
    const low = this.setCharacter()
    const isRange =
      this.peek() === '-' && this.chars[this.index + 1] !== undefined && this.chars[this.index + 1] !== ']'
    if (!isRange) return range1(low, this.flags.fold)
    this.index++
    const high = this.setCharacter()
    if (high.codePointAt(0)! < low.codePointAt(0)!) refuseInvalid('a reversed range')
    return range(low, high, this.flags.fold)
  }

  private setCharacter(): string {
    if (this.take('\\')) return this.escaped()
    return this.chars[this.index++] ?? refuseInvalid('an unbalanced [')
  }

  private peek(): string | undefined {
    return this.chars[this.index]
  }

  private take(char: string): boolean {
    if (this.peek() !== char) return false
    this.index++
    return true
  }
}

const range1 = (char: string, fold: boolean): CharacterSet => range(char, char, fold)

const ASSERTIONS = new Map([
  ['A', part.isStart],
  ['z', part.isEnd],
  ['b', part.isWordEdge],
  ['B', part.isNoWordEdge],
])

function checked(repetition: part.Repetition): part.Repetition {
  const { counted, least, most } = repetition
  if (!counted || (least < 2 && (most ?? 0) < 2) || part.staysWithin(repetition, MAX_COUNT)) return repetition
  return refuseInvalid('nested repeat counts that are too large')
}

const CONTROLS = new Map(Object.entries({ a: '\x07', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }))

/**
 * The character that an escape stands for, and how many characters of `rest` (what follows the backslash) it takes: those
 * of Go's regexp/syntax. Throws PatternError for any other.
 */
function parseEscape(rest: readonly string[]): { char: string; length: number } {
  const first = rest[0]
  if (first === undefined) refuseInvalid('a trailing backslash')
  if (first === 'x') return hexadecimal(rest)
  const octal = /^(?:0[0-7]{0,2}|[1-7][0-7]{1,2})/.exec(rest.slice(0, 3).join(''))?.[0]
  if (octal) return { char: String.fromCodePoint(Number.parseInt(octal, 8)), length: octal.length }
  const control = CONTROLS.get(first)
  if (control) return { char: control, length: 1 }
  if (/^[\0-\x7f]$/.test(first) && !/[0-9A-Za-z]/.test(first)) return { char: first, length: 1 }
  return refuseInvalid('an unknown escape')
}

function hexadecimal(rest: readonly string[]): { char: string; length: number } {
  const [all, braced, plain] = /^x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))/.exec(rest.slice(0, 1_000).join('')) ?? []
  const code = Number.parseInt(braced ?? plain ?? '', 16)
  if (all === undefined || !(code <= 0x10ffff)) refuseInvalid('an escape \\x that is not a character')
  return { char: String.fromCodePoint(code), length: all.length }
}
