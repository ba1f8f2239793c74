import { BailiwickError, type ErrorCode } from '../../errors.ts'
import type { Origin } from '../../origin.ts'
import type { Node } from '../node.ts'
import type { Unseen } from '../object.ts'
import { checkDocuments } from './check-documents.ts'
import { decodeText, type FileName } from './decode-text.ts'
import { parseTokens } from './parse-tokens.ts'
import { scan } from './scan-text.ts'
import { findUnseen } from './unseen.ts'
import type { Position } from './yaml-budget.ts'

/** Maps a 1-based line and column of a text to where it was written. */
type Locate = (line: number, column: number) => Origin

/**
 * The documents of a YAML or JSON file, one node each; empty ones are dropped. Values are those that kustomize gives
 * them; every node knows its line. Throws `yaml-encoding`, `yaml-ambiguous`, `yaml-syntax` or `render-limits` for
 * everything on which YAML readers disagree and for more than the limits.
 */
export function parseDocuments(file: FileName, bytes: Uint8Array): Node[] {
  return [...parseFile(file, bytes).documents]
}

/** What a file holds; `pieces` is into how many parts kustomize cuts it, empty ones included. */
export interface ParsedFile {
  readonly documents: readonly Node[]
  readonly pieces: number
  readonly text: string
  readonly unseen?: readonly Unseen[]
}

/** `parseDocuments` with what else kustomize knows of the file; without origins every value is at its start. */
export function parseFile(file: FileName, bytes: Uint8Array, origins = true): ParsedFile {
  const { repository, path } = file
  const start: Origin = { repository, file: path, line: 1, column: 1 }
  const locate: Locate = origins ? (line, column) => ({ repository, file: path, line, column }) : () => start
  return parseText(decodeText(file, bytes), locate)
}

/**
 * The same for text that was decoded already, such as a patch inside a kustomization.yaml. A `locate` that always gives
 * the same origin is how to parse without origins.
 */
export function parseText(text: string, locate: Locate): ParsedFile {
  checkCharacters(text, locate)
  const pieces = checkDocuments(text, locate)
  const { tokens, steered } = scan(text, locate)
  const documents = parseTokens(tokens, text, locate)
  tokens.release()
  const unseen = findUnseen(text, locate)
  const origin = steered && locate(steered.line, steered.column)
  return {
    documents: origin ? documents.map(node => withSteering(node, origin)) : documents,
    pieces,
    text,
    ...(unseen.length > 0 ? { unseen } : {}),
  }
}

/** Comments before a document belong to none, so one that steers counts for the whole file. */
function withSteering(node: Node, steered: Origin): Node {
  return node.type === 'map' ? { ...node, steered } : node
}

const LINE_BREAK = /[\r\x85\u2028\u2029]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const SUSPECT = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|\r(?!\n)/

/**
 * Throws `yaml-encoding` for characters that YAML does not allow and for a byte order mark inside a text, and
 * `yaml-ambiguous` for line breaks that only some YAML parsers know.
 */
function checkCharacters(text: string, position: Position): void {
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
  const message = `${origin.file}: contains ${what} (${name}). YAML parsers read it differently`
  const fix = 'Remove the character, or write it as an escape in double quotes.'
  const rule = code === 'yaml-ambiguous' ? code : undefined
  const identity = `${origin.file} holds ${what} (${name}); parsers disagree on such text`
  throw new BailiwickError(code, message, { origin, rule, fix, identity })
}
