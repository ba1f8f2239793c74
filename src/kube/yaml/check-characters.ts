import { BailiwickError, type ErrorCode } from '../../errors.ts'
import type { Position } from './yaml-budget.ts'

const LINE_BREAK = /[\r\x85\u2028\u2029]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const SUSPECT = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|\r(?!\n)/

/**
 * Throws `yaml-encoding` for characters that YAML does not allow and for a byte order mark inside a text, and
 * `yaml-ambiguous` for line breaks that only some YAML parsers know.
 */
export function checkCharacters(text: string, position: Position): void {
  const index = text.search(SUSPECT)
  if (index < 0) return
  const character = text.charAt(index)
  const lines = text.slice(0, index).split('\n')
  const origin = position(lines.length, lines.at(-1)!.length + 1)
  const code: ErrorCode = LINE_BREAK.test(character) ? 'yaml-ambiguous' : 'yaml-encoding'
  const what = LINE_BREAK.test(character)
    ? 'a line break that not every YAML parser knows'
    : character === '\ufeff'
      ? 'a byte order mark inside the text'
      : 'a control character'
  const name = `U+${text.charCodeAt(index).toString(16).toUpperCase().padStart(4, '0')}`
  const message = `${origin.file} holds ${what} (${name}); parsers disagree on such text`
  const fix = 'Remove it, or write it as an escape in double quotes.'
  const rule = code === 'yaml-ambiguous' ? code : undefined
  throw new BailiwickError(code, message, { origin, rule, fix })
}
