import type { CST } from 'yaml'
import { BailiwickError } from '../errors.ts'
import type { Origin } from './origin.ts'

/** Limits of one file, counted in steps so that the same file always gives the same answer. */
export const YAML_LIMITS = {
  /** Pieces that a reader tells apart: a line of a manifest has about six. */
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
  const message = `${origin.file} has more than ${YAML_LIMITS[what]} ${WORDS[what]}`
  throw new BailiwickError('render-limits', message, { origin, fix: 'Make the file smaller or less nested.' })
}

const WORDS = {
  fileTokens: 'tokens',
  documentTokens: 'tokens in one document',
  documents: 'documents',
  depth: 'levels of nesting',
  aliases: 'aliases',
  expanded: 'values once its aliases are expanded',
}

/** Looks at the nesting without recursion, before anything recursive sees the document. */
export function checkDepth(document: CST.Token, at: (offset: number) => Origin): void {
  const stack: { token: CST.Token; depth: number }[] = [{ token: document, depth: 0 }]
  for (let entry = stack.pop(); entry; entry = stack.pop()) {
    const { token, depth } = entry
    if (depth > YAML_LIMITS.depth) refuseOver('depth', at(token.offset))
    if (token.type === 'document' && token.value) stack.push({ token: token.value, depth: depth + 1 })
    if (!('items' in token)) continue
    for (const item of token.items) {
      if (item.key) stack.push({ token: item.key, depth: depth + 1 })
      if (item.value) stack.push({ token: item.value, depth: depth + 1 })
    }
  }
}
