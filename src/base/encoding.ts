/** The bytes of a YAML file as UTF-8, for searches: the same, unless its byte order mark says that it is UTF-16. */
export function asUtf8(bytes: Uint8Array): Uint8Array {
  const encoding = encodingOf(bytes)
  return encoding === 'utf-8' ? bytes : Buffer.from(new TextDecoder(encoding).decode(bytes.slice()))
}

/** How a YAML parser reads bytes: as their byte order mark says, else as UTF-8 (go-yaml, yaml_parser_determine_encoding). */
export function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}
