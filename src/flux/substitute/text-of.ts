const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of bytes; undefined where they are no UTF-8. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}
