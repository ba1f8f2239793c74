import type { Cursor } from './cursor.ts'

/** 1-based. */
export interface Place {
  readonly line: number
  readonly column: number
}

/**
 * Looks for the first comment that kustomize reads as a schema and that then decides how a strategic merge patch merges a
 * list: a JSON object as a comment of anything but a plain value (kyaml's fieldmeta.Read). An image policy marker behind
 * its value steers nothing.
 */
export class Steering {
  found: Place | undefined
  private harmlessLine = 0
  private harmlessToken = -1

  /** A scalar, the last of `tokens`, ended on `line`: a comment behind it there is its own. */
  afterScalar(line: number, tokens: number): void {
    this.harmlessLine = line
    this.harmlessToken = tokens
  }

  /** The cursor is at a comment behind so many tokens. */
  comment(cursor: Cursor, tokens: number): void {
    if (this.found || (cursor.line === this.harmlessLine && tokens === this.harmlessToken)) return
    const { text } = cursor
    let at = cursor.at
    while (text.charCodeAt(at) === 35) at++
    while (text.charCodeAt(at) === 32 || text.charCodeAt(at) === 9) at++
    if (text.charCodeAt(at) !== 123) return
    const end = text.indexOf('\n', at)
    if (isSchema(text.slice(at, end < 0 ? -1 : end))) this.found = { line: cursor.line, column: cursor.column + 1 }
  }
}

function isSchema(text: string): boolean {
  try {
    return Object.keys(JSON.parse(text) as object).length > 0
  } catch {
    return false // no JSON: a comment like any other
  }
}
