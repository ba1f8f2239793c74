/** A place between two characters, either of which may not be there. */
export type Assertion = (before: string | undefined, after: string | undefined) => boolean

/** A part of a regular expression. */
export type PatternPart =
  | { readonly kind: 'char'; readonly accepts: CharacterSet }
  | { readonly kind: 'assert'; readonly holds: Assertion }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternPart[] }
  | { readonly kind: 'choice'; readonly parts: readonly PatternPart[] }
  /** A capturing group, counted from 1. */
  | { readonly kind: 'group'; readonly index: number; readonly part: PatternPart }
  | Repetition

export interface Repetition {
  readonly kind: 'repeat'
  readonly part: PatternPart
  readonly least: number
  /** Absent: without end. */
  readonly most: number | undefined
  /** As few as possible are preferred. */
  readonly lazy: boolean
  /** Written as `{…}`, the product of which Go limits where they are nested. */
  readonly counted: boolean
}

/** Whether counted repetitions inside of each other stay within `limit` (repeatIsValid of Go's regexp/syntax). */
export function staysWithin(part: PatternPart, limit: number): boolean {
  if (part.kind === 'sequence' || part.kind === 'choice') return part.parts.every(inner => staysWithin(inner, limit))
  if (part.kind === 'group') return staysWithin(part.part, limit)
  if (part.kind !== 'repeat') return true
  if (!part.counted) return staysWithin(part.part, limit)
  const most = part.most ?? part.least
  if (most === 0 && part.most === 0) return true
  if (most > limit) return false
  return staysWithin(part.part, most > 0 ? Math.floor(limit / most) : limit)
}

/** Whether a part may match nothing. */
export function isNullable(part: PatternPart): boolean {
  if (part.kind === 'sequence') return part.parts.every(isNullable)
  if (part.kind === 'choice') return part.parts.some(isNullable)
  if (part.kind === 'group') return isNullable(part.part)
  return part.kind === 'assert' || (part.kind === 'repeat' && (part.least === 0 || isNullable(part.part)))
}

export const isStart: Assertion = before => before === undefined
export const isEnd: Assertion = (_, after) => after === undefined
export const isLineStart: Assertion = before => before === undefined || before === '\n'
export const isLineEnd: Assertion = (_, after) => after === undefined || after === '\n'
export const isWordEdge: Assertion = (before, after) => isWord(before) !== isWord(after)
export const isNoWordEdge: Assertion = (before, after) => isWord(before) === isWord(after)

const isWord = (char: string | undefined): boolean => char !== undefined && /^[0-9A-Z_a-z]$/.test(char)

/** Whether a character is in a set; a character is one code point. */
export type CharacterSet = (char: string) => boolean

// what Go's regexp/syntax names; all of ASCII
const PERL = new Map([
  ['d', '0-9'],
  ['s', '\\t\\n\\f\\r '],
  ['w', '0-9A-Z_a-z'],
])
const POSIX = new Map([
  ['alnum', '0-9A-Za-z'],
  ['alpha', 'A-Za-z'],
  ['ascii', '\\0-\\x7f'],
  ['blank', '\\t '],
  ['cntrl', '\\0-\\x1f\\x7f'],
  ['digit', '0-9'],
  ['graph', '!-~'],
  ['lower', 'a-z'],
  ['print', ' -~'],
  ['punct', '!-\\/:-@\\[-`{-~'],
  ['space', '\\t-\\r '],
  ['upper', 'A-Z'],
  ['word', '0-9A-Z_a-z'],
  ['xdigit', '0-9A-Fa-f'],
])
/** Categories of Unicode that have the same name and meaning in every release of Go. */
const CATEGORIES = new Set(
  'L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs Cc Cf Co'.split(' '),
)

/** The characters from `low` to `high`; in any case where `fold` says so. */
export function range(low: string, high: string, fold: boolean): CharacterSet {
  const [from, to] = [low.codePointAt(0)!, high.codePointAt(0)!]
  if (fold) return matcher(`[\\u{${from.toString(16)}}-\\u{${to.toString(16)}}]`, true)
  return char => char.codePointAt(0)! >= from && char.codePointAt(0)! <= to
}

/** `\d` and its like by their letter; undefined for another one. */
export function perlSet(letter: string, fold: boolean): CharacterSet | undefined {
  const set = PERL.get(letter.toLowerCase())
  return set === undefined ? undefined : signed(`[${set}]`, fold, !PERL.has(letter))
}

/** `[:name:]` and `[:^name:]`. Throws for a name that there is not. */
export function posixSet(name: string, fold: boolean): CharacterSet {
  const set = POSIX.get(name.replace(/^\^/, ''))
  return set ? signed(`[${set}]`, fold, name.startsWith('^')) : refuseInvalid('an unknown character class')
}

/** `\p{name}`, or `\P{name}` where `negated`. Throws for one that is not the same in every release of Go. */
export function unicodeSet(name: string, fold: boolean, negated: boolean): CharacterSet {
  const plain = name.replace(/^\^/, '')
  if (!CATEGORIES.has(plain)) throw new PatternError('a Unicode class that is not a general category', false)
  return signed(`\\p{${plain}}`, fold, negated !== name.startsWith('^'))
}

function signed(source: string, fold: boolean, negated: boolean): CharacterSet {
  const accepts = matcher(source, fold)
  return negated ? char => !accepts(char) : accepts
}

// simple case folding is what Go's unicode.SimpleFold does, too
function matcher(source: string, fold: boolean): CharacterSet {
  const pattern = new RegExp(`^${source}$`, fold ? 'iu' : 'u')
  return char => pattern.test(char)
}

/** Why a pattern cannot be used: Go's regexp refuses it (`invalid`), or we do. */
export class PatternError extends Error {
  readonly invalid: boolean

  constructor(message: string, invalid: boolean) {
    super(message)
    this.invalid = invalid
  }
}

/** Throws for a pattern that Go's regexp refuses. */
export function refuseInvalid(what: string): never {
  throw new PatternError(what, true)
}
