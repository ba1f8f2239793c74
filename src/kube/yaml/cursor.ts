import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'

/** A place in a text, with its line. The text ends with a NUL, which it does not hold elsewhere. */
export class Cursor {
  readonly text: string
  at = 0
  line = 1
  lineStart = 0
  readonly position: Position

  constructor(text: string, position: Position) {
    this.text = `${text}\0`
    this.position = position
  }

  /** The character at the cursor. */
  get code(): number {
    return this.text.charCodeAt(this.at)
  }

  /** 0-based. */
  get column(): number {
    return this.at - this.lineStart
  }

  /** Steps over the line break at the cursor. */
  skipBreak(): void {
    this.at +=
      this.text.charCodeAt(this.at) === CARRIAGE_RETURN && this.text.charCodeAt(this.at + 1) === LINE_FEED ? 2 : 1
    this.line++
    this.lineStart = this.at
  }

  /** Moves to the end of the line, before its break. */
  skipLine(): void {
    const feed = this.text.indexOf('\n', this.at)
    const end = feed < 0 ? this.text.length - 1 : feed
    this.at = end > this.at && isBreak(this.text.charCodeAt(end - 1)) ? end - 1 : end
  }

  /** Whether a line begins here with `---` or `...` alone or before a blank. */
  atDocumentMarker(): boolean {
    if (this.at !== this.lineStart) return false
    const first = this.text.charCodeAt(this.at)
    if (first !== 45 && first !== 46) return false
    if (this.text.charCodeAt(this.at + 1) !== first || this.text.charCodeAt(this.at + 2) !== first) return false
    const next = this.text.charCodeAt(this.at + 3)
    return next === 0 || next === 9 || next === 10 || next === 13 || next === 32
  }

  here(): Origin {
    return this.position(this.line, this.column + 1)
  }

  /** Throws `yaml-syntax` at the cursor, or at `origin`. */
  fail(problem: string, origin = this.here()): never {
    const lines = this.text.split('\n', origin.line).slice(-2)
    const isConflict = lines.some(line => /^(?:<{7}|={7}|>{7})(?!\S)/.test(line))
    refuseSyntax(isConflict ? 'an unresolved merge conflict' : problem, origin)
  }

  /** Throws `yaml-ambiguous` at the cursor, or at `origin`. */
  doubt(what: string, origin = this.here()): never {
    refuseAmbiguous(what, origin)
  }
}

export const END = 0
export const TAB = 9
const LINE_FEED = 10
const CARRIAGE_RETURN = 13
export const SPACE = 32
export const HASH = 35
export const COLON = 58

/** Space or tab. */
export const isBlank = (code: number): boolean => code === SPACE || code === TAB

/** A line break: a carriage return never stands alone in a text that was decoded. */
export const isBreak = (code: number): boolean => code === LINE_FEED || code === CARRIAGE_RETURN

/** A line break or the end of the text. */
export const isBreakOrEnd = (code: number): boolean => code === LINE_FEED || code === CARRIAGE_RETURN || code === END

/** Space, tab, line break or the end of the text. */
export const isBlankOrEnd = (code: number): boolean =>
  code === SPACE || code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB || code === END

/** One of `,[]{}`, which end a plain scalar inside brackets. */
export const isFlowIndicator = (code: number): boolean =>
  code === 44 || code === 91 || code === 93 || code === 123 || code === 125

/** What the name of an anchor or the handle of a tag is made of. */
export const isWordCharacter = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95 || code === 45

/** Throws `yaml-ambiguous`: readers of YAML disagree on `what`. The rule of that name makes it a violation. */
export function refuseAmbiguous(what: string, origin: Origin, fix = FIX): never {
  throw new BailiwickError('yaml-ambiguous', ambiguous(what, origin), {
    origin,
    rule: 'yaml-ambiguous',
    fix,
    identity: `${origin.file} has ${what}; YAML readers disagree on it, or refuse it`,
  })
}

/** Throws `yaml-ambiguous` for what no reader of YAML should accept, and some do: it cannot be decided what it says. */
export function refuseUndecided(what: string, origin: Origin, fix = FIX): never {
  throw new BailiwickError('yaml-ambiguous', ambiguous(what, origin), { origin, fix })
}

const ambiguous = (what: string, { file }: Origin) =>
  `${file}: contains ${what}. YAML parsers read it differently, or reject it`

/** Throws `yaml-syntax`. `problem` must not quote the text, which may be a secret. */
export function refuseSyntax(problem: string, origin: Origin): never {
  const message = `${origin.file}: invalid YAML at line ${origin.line}: ${problem}`
  throw new BailiwickError('yaml-syntax', message, { origin, fix: `Correct the syntax at line ${origin.line}.` })
}

const FIX = 'Use plain YAML: quote text values, and write each key once.'

/** Maps a 1-based line and column of a text to where it was written. */
export type Position = (line: number, column: number) => Origin

/** Limits of one file, counted in steps so that the same file always gives the same answer. */
export const YAML_LIMITS = {
  /** Pieces that a reader tells apart: a line of a manifest has about three. */
  fileTokens: 500_000,
  documentTokens: 250_000,
  documents: 5_000,
  depth: 100,
  aliases: 1_000,
  /** A long text counts as one more value for each 64 characters. */
  expanded: 200_000,
} as const

/** Throws `render-limits`, naming the limit. */
export function refuseOver(what: keyof typeof YAML_LIMITS, origin: Origin): never {
  const message = `${origin.file}: more than ${YAML_LIMITS[what]} ${WORDS[what]}`
  throw new BailiwickError('render-limits', message, { origin, fix: 'Make the file smaller or less nested.' })
}

const WORDS = {
  fileTokens: 'tokens',
  documentTokens: 'tokens in one document',
  documents: 'documents',
  depth: 'levels of nesting',
  aliases: 'aliases',
  expanded: 'values after expanding its aliases',
}
