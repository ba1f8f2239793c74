/** No UTF-16 unit takes more in UTF-8. */
const UTF8_PER_UNIT = 3

/** The bytes of some texts in UTF-8; 0 where they certainly do not exceed the limit, which takes no counting. */
export function bytesIn(texts: readonly string[], limit: number): number {
  let units = 0
  for (const text of texts) units += text.length
  return units * UTF8_PER_UNIT <= limit ? 0 : texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}
