import type { CST } from 'yaml'
import { sourceTokens } from './source-tokens.ts'

const NULLS = ['', '~', 'null', 'Null', 'NULL']

/** Whether a text may hold a comment that steers; spares looking at the tokens of all others. */
export const maySteer = (text: string): boolean => /#[ \t#]*\{/.test(text)

/**
 * Offset of the first comment that kustomize reads as a schema and that then decides how a strategic merge patch merges a
 * list: a JSON object as a comment of anything but a plain value (kyaml's fieldmeta.Read). An image policy marker behind
 * its value steers nothing.
 */
export function steeringComment(root: CST.Token): number | undefined {
  for (const { token, scalar } of sourceTokens(root)) {
    if (token.type !== 'comment' || !isSchema(token.source)) continue
    const harmless = scalar && !(scalar.type === 'scalar' && NULLS.includes(scalar.source))
    if (!harmless) return token.offset
  }
  return undefined
}

function isSchema(comment: string): boolean {
  const text = comment.replace(/^#+/, '').trim()
  if (!text.startsWith('{')) return false
  try {
    return Object.keys(JSON.parse(text) as object).length > 0
  } catch {
    return false // no JSON: a comment like any other
  }
}
