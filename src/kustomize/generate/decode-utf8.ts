const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text that these bytes are, a byte order mark included; undefined where they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}
