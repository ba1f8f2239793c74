import type { Unseen } from '../object.ts'
import type { Position } from './yaml-budget.ts'

/** Orders to show what follows from right to left, or as an embedded text: nobody writes them by hand. */
const OVERRIDES = /[\u202a-\u202e]/g
/** The same, isolated, and characters without width. Texts in some languages need them, so they count outside of text blocks only. */
const ANY = /[\u202a-\u202e\u2066-\u2069\u200b\u2060\u180e]/g
const BLOCK = /(?:^|[:\-?][ \t]+|[ \t])[|>][+-]?[1-9]?[+-]?[ \t]*(?:#.*)?$/

/** Such characters of a text, comments included (CVE-2021-42574). Cheap where there are none. */
export function findUnseen(text: string, position: Position): Unseen[] {
  if (text.search(ANY) < 0) return []
  const found: Unseen[] = []
  let block: number | undefined
  for (const [index, line] of text.split('\n').entries()) {
    const indent = line.search(/[^ \r]/)
    if (block !== undefined && indent >= 0 && indent <= block) block = undefined
    for (const match of line.matchAll(block === undefined ? ANY : OVERRIDES)) {
      const character = `U+${match[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
      found.push({ character, origin: position(index + 1, match.index + 1) })
    }
    if (block === undefined && line.length < 1000 && BLOCK.test(line)) block = indent
  }
  return found
}
