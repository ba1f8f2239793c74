import { BailiwickError, type ErrorCode } from '../errors.ts'
import type { Origin } from './origin.ts'

/** A file of a repository, as an origin names it. */
export interface FileName {
  readonly repository: string
  readonly path: string
}

/** Bytes of one file that may be parsed; a manifest in git is far below (the largest CRDs have about 1 MB). */
const MAX_FILE_BYTES = 8 * 1024 * 1024

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/
const LINE_BREAK = /\r(?!\n)|[\x85\u2028\u2029]/

/**
 * The text of a YAML or JSON file. Throws `render-limits` for a file that is too large, `yaml-encoding` for bytes that
 * are not clean UTF-8, and `yaml-ambiguous` for line breaks that only some YAML parsers know.
 */
export function decodeText(file: FileName, bytes: Uint8Array): string {
  const start: Origin = { repository: file.repository, file: file.path, line: 1, column: 1 }
  if (bytes.length > MAX_FILE_BYTES) {
    const message = `${file.path} has ${bytes.length} bytes; at most ${MAX_FILE_BYTES} are read`
    throw new BailiwickError('render-limits', message, { origin: start, fix: 'Split the file.' })
  }
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch (cause) {
    const message = `${file.path} is not valid UTF-8`
    throw new BailiwickError('yaml-encoding', message, { origin: start, fix: 'Save the file as UTF-8.', cause })
  }
  refuseCharacter(text, CONTROL, 'yaml-encoding', 'a control character', file)
  refuseCharacter(text, /\ufeff/, 'yaml-encoding', 'a byte order mark inside the text', file)
  refuseCharacter(text, LINE_BREAK, 'yaml-ambiguous', 'a line break that not every YAML parser knows', file)
  return text
}

function refuseCharacter(text: string, pattern: RegExp, code: ErrorCode, what: string, file: FileName): void {
  const index = text.search(pattern)
  if (index < 0) return
  const before = text.slice(0, index).split('\n')
  const origin: Origin = {
    repository: file.repository,
    file: file.path,
    line: before.length,
    column: before.at(-1)!.length + 1,
  }
  const name = `U+${text.charCodeAt(index).toString(16).toUpperCase().padStart(4, '0')}`
  const message = `${file.path} holds ${what} (${name}); parsers disagree on such text`
  throw new BailiwickError(code, message, { origin, fix: 'Remove it, or write it as an escape in double quotes.' })
}
