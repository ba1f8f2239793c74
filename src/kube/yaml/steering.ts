import type { Cursor } from './cursor.ts'
import { DOUBLE_QUOTED, PLAIN, SINGLE_QUOTED } from './token.ts'
import type { TokenList } from './token-list.ts'

const NULLS = ['', '~', 'null', 'Null', 'NULL']

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

  /** The cursor is at a comment behind these tokens; `flow`: inside brackets. */
  comment(cursor: Cursor, tokens: TokenList, flow: boolean): void {
    if (this.found || (!flow && followsValue(tokens, cursor.line))) return
    const { text } = cursor
    let at = cursor.at
    while (text.charCodeAt(at) === 35) at++
    while (text.charCodeAt(at) === 32 || text.charCodeAt(at) === 9) at++
    if (text.charCodeAt(at) !== 123) return
    const end = text.indexOf('\n', at)
    if (isSchema(text.slice(at, end < 0 ? -1 : end))) this.found = { line: cursor.line, column: cursor.column + 1 }
  }
}

function followsValue(tokens: TokenList, line: number): boolean {
  const last = tokens.count - 1
  if (last < 0) return false
  const kind = tokens.kind(last)
  const scalar = kind === PLAIN || kind === SINGLE_QUOTED || kind === DOUBLE_QUOTED
  return scalar && tokens.extra(last) === line && !(kind === PLAIN && NULLS.includes(tokens.values[last]!))
}

function isSchema(text: string): boolean {
  try {
    return Object.keys(JSON.parse(text) as object).length > 0
  } catch {
    return false // no JSON: a comment like any other
  }
}
