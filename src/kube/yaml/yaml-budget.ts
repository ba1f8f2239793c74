import { BailiwickError } from '../../errors.ts'
import type { Origin } from '../../origin.ts'

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
