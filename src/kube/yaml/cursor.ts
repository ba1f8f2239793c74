import type { Origin } from '../../origin.ts'
import { CARRIAGE_RETURN, isBreak, LINE_FEED } from './characters.ts'
import { refuseAmbiguous, refuseSyntax } from './refuse-yaml.ts'
import type { Position } from './yaml-budget.ts'

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
    refuseSyntax(problem, origin)
  }

  /** Throws `yaml-ambiguous` at the cursor, or at `origin`. */
  doubt(what: string, origin = this.here()): never {
    refuseAmbiguous(what, origin)
  }
}
