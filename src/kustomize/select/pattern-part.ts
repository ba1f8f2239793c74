import type { CharacterSet } from './character-set.ts'

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
