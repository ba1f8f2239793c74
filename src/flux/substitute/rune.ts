/** What Go reads for bytes that are no UTF-8. */
const RUNE_ERROR = { rune: 0xfffd, width: 1 } as const

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The character that starts at a byte, as Go's utf8.DecodeRune reads it: one byte at a time where it is broken. */
export function runeAt(bytes: Uint8Array, at: number): { rune: number; width: number } {
  const first = bytes[at] ?? 0
  if (first < 0x80) return { rune: first, width: 1 }
  const width = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
  if (at + width > bytes.length) return RUNE_ERROR
  const text = textOf(bytes.subarray(at, at + width))
  return text === undefined ? RUNE_ERROR : { rune: text.codePointAt(0)!, width }
}

/** The text of bytes; undefined where they are no UTF-8. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}
