import { BailiwickError } from '../../errors.ts'
import type { Origin } from '../../origin.ts'

/** A file of a repository, as an origin names it. */
export interface FileName {
  readonly repository: string
  readonly path: string
}

/** Bytes of one file that may be parsed; a manifest in git is far below (the largest CRDs have about 1 MB). */
const MAX_FILE_BYTES = 8 * 1024 * 1024

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/**
 * The text of a YAML or JSON file, without a byte order mark at its start. Throws `render-limits` for a file that is too
 * large, and `yaml-encoding` for bytes that are not UTF-8.
 */
export function decodeText(file: FileName, bytes: Uint8Array): string {
  const origin: Origin = { repository: file.repository, file: file.path, line: 1, column: 1 }
  if (bytes.length > MAX_FILE_BYTES) {
    const message = `${file.path}: too large (${bytes.length} bytes). At most ${MAX_FILE_BYTES} bytes are read`
    throw new BailiwickError('render-limits', message, { origin, fix: 'Split the file.' })
  }
  try {
    return UTF8.decode(bytes)
  } catch (cause) {
    const message = `${file.path}: not valid UTF-8`
    const details = { origin, fix: 'Save the file as UTF-8.', cause }
    throw new BailiwickError('yaml-encoding', message, details)
  }
}
