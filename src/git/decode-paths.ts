import { BailiwickError } from '../errors.ts'

/** Splits NUL-terminated records and decodes them. Throws `git-ambiguous` for a name that is not UTF-8. */
export function decodeRecords(what: string, output: Uint8Array): string[] {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(output)
  } catch (cause) {
    throw new BailiwickError('git-ambiguous', `${what}: a file name is not valid UTF-8`, {
      fix: 'Rename the file.',
      cause,
    })
  }
  return text.split('\0').filter(record => record !== '')
}
