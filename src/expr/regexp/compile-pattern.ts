import { RE2JS, RE2JSSyntaxException } from 're2js'
import { oncePerText } from '../../base/once-per.ts'

/** Where a pattern was found. */
export interface Match {
  readonly from: number
  readonly to: number
}

/** A regular expression that works as Go's regexp. */
export interface Pattern {
  /** What it costs at most to search a text of this length. */
  work(length: number): number
  isIn(text: string): boolean
  /** The leftmost matches as FindAllStringIndex: none inside of another. `spend` gets the work, match by match. */
  find(text: string, limit: number, spend: (work: number) => void): Match[]
}

const MAX_LENGTH = 2_000
const MAX_SIZE = 2_100
/** Go's regexp refuses repetitions, within each other, that make more copies of a part (regexp/syntax, repeatIsValid). */
const MAX_COPIES = 1_000

/** Reads a regular expression of Go. Throws PatternError: `invalid` where Go refuses it, too. */
export const compilePattern = oncePerText(1_000, (text): Pattern => {
  if (text.length > MAX_LENGTH) throw new PatternError(`more than ${MAX_LENGTH} characters`, false)
  refuseUnicodeClasses(text)
  const { size, copies } = sizeOf(text)
  if (copies > MAX_COPIES) throw new PatternError('invalid repeat count', true)
  if (size > MAX_SIZE) throw new PatternError('too many parts', false)
  return patternOf(read(text))
})

function read(text: string): RE2JS {
  try {
    return RE2JS.compile(text)
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error
    const problem = error.getDescription()
    if (problem !== 'duplicate capture group name') throw new PatternError(problem, true)
    // Go accepts it, and nothing asks for a group by its name
    return read(text.replace(NAMED, token => (token.startsWith('(') ? '(' : token)))
  }
}

/** Where a group gets a name, and what may only look like it. */
const NAMED = /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\[:\^?\w*:\]|\\.|[^\]\\])*\]|\(\?P?<\w+>/gsu

/** Instructions of the program that one character passes in the time of one unit of work. */
const PER_WORK = 4
/** A match is found by looking ahead, at worst to the end of the text for each. */
const AHEAD = 5

function patternOf(compiled: RE2JS): Pattern {
  const each = compiled.programSize() / PER_WORK
  return {
    work: length => (length + 1) * each,
    isIn: text => compiled.test(text),
    find(text, limit, spend) {
      const found: Match[] = []
      const matcher = compiled.matcher(text)
      let last = 0
      for (; found.length < limit && matcher.find(); last = matcher.end()) {
        spend((matcher.end() - last + 1 + (text.length - last) / AHEAD) * each)
        // Go leaves out an empty match behind the one before
        if (found.length > 0 && matcher.end() === last && matcher.start() === last) continue
        found.push({ from: matcher.start(), to: matcher.end() })
      }
      if (found.length < limit) spend((text.length - last + 1) * each)
      return found
    },
  }
}

/** Categories of Unicode that have the same name and meaning in every release of Go. */
const CATEGORIES = new Set(
  'L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs Cc Cf Co'.split(' '),
)
const ESCAPE = /\\(?:Q.*?(?:\\E|$)|[pP](?:\{\^?([^}]*)\}|([^{]))|.)/gsu

function refuseUnicodeClasses(text: string): void {
  for (const [, braced, plain] of text.matchAll(ESCAPE)) {
    const name = braced ?? plain
    if (name === undefined || CATEGORIES.has(name)) continue
    throw new PatternError('a Unicode class that is not a general category', false)
  }
}

const TOKEN = /\\Q.*?(?:\\E|$)|\\(?:[pPx]\{[^}]*\}|.)|\[\^?\]?(?:\[:\^?\w*:\]|\\.|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|./gsu

interface Measured {
  readonly size: number
  readonly copies: number
}

const joined = (one: Measured, other: Measured): Measured => ({
  size: one.size + other.size,
  copies: Math.max(one.copies, other.copies),
})

/**
 * About how many instructions a pattern compiles to, at least as many as characters and classes, repeated ones counted each;
 * and how many copies counted repetitions make of the part that has the most.
 */
function sizeOf(text: string): Measured {
  const outer: Measured[] = []
  let all: Measured = { size: 0, copies: 1 }
  let last = all
  for (const [token, least, most] of text.matchAll(TOKEN)) {
    if (token === '(') {
      outer.push(all)
      all = { size: 0, copies: 1 }
      last = all
    } else if (token === ')') {
      last = all
      all = joined(outer.pop() ?? { size: 0, copies: 1 }, last)
    } else if (least !== undefined) {
      const times = Math.max(Number(least), Number(most ?? 0))
      all = joined(all, { size: (times - 1) * last.size + 1, copies: times * last.copies })
      last = { size: 1, copies: times * last.copies }
    } else {
      last = { size: token.startsWith('\\Q') ? token.length : 1, copies: 1 }
      all = joined(all, last)
    }
  }
  return all
}

/** Why a pattern cannot be used: Go's regexp refuses it (`invalid`), or we do. */
export class PatternError extends Error {
  readonly invalid: boolean

  constructor(message: string, invalid: boolean) {
    super(message)
    this.invalid = invalid
  }
}
