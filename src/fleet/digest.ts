import { createHash } from 'node:crypto'

/** SHA-256 over canonical texts in order. No text contains a line break (JSON escapes it), so the parts cannot run together. */
export function digestOfTexts(texts: readonly string[]): string {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(text).update('\n')
  return hash.digest('hex')
}
