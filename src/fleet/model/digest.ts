import { createHash, hash } from 'node:crypto'

/** Characters that are put together to be hashed at once, which is far cheaper than text by text. */
const MAX_AT_ONCE = 1024 * 1024

/** SHA-256 over canonical texts in order. No text contains a line break (JSON escapes it), so the parts cannot run together. */
export function digestOfTexts(texts: readonly string[]): string {
  let length = 0
  for (const text of texts) length += text.length
  if (length <= MAX_AT_ONCE) return hash('sha256', texts.length === 0 ? '' : `${texts.join('\n')}\n`)
  const stream = createHash('sha256')
  for (const text of texts) stream.update(text).update('\n')
  return stream.digest('hex')
}
