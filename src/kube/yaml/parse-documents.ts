import { encodingOf } from '../../base/encoding.ts'
import { BailiwickError, type ErrorCode, unlessRefused } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { work } from '../../base/work.ts'
import type { Node } from '../node.ts'
import type { Unseen } from '../object.ts'
import type { Position } from './cursor.ts'
import { parseTokens } from './parse-tokens.ts'
import { scan } from './scan-text.ts'

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
  work.parsed++
  work.characters += bytes.length
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

/** The documents of a file; undefined where it cannot be read, for callers that report no error of their own. */
export function readableDocuments(file: FileName, bytes: Uint8Array): readonly Node[] | undefined {
  return unlessRefused(undefined, () => parseDocuments(file, bytes))
}

/** A file of a repository, as an origin names it. */
export interface FileName {
  readonly repository: string
  readonly path: string
}

/** Bytes of one file that may be parsed; a manifest in git is far below (the largest CRDs have about 1 MB). */
const MAX_FILE_BYTES = 8 * 1024 * 1024

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/**
 * The text of a file in UTF-16, as some shells write it; undefined for one that kustomize may not read whole. It cuts at line
 * breaks and separators of bytes: where each second one is zero, it finds none, and applies the first document only.
 */
function wideText(bytes: Uint8Array, encoding: 'utf-16le' | 'utf-16be'): string | undefined {
  if (bytes.length % 2 > 0) return undefined
  const text = new TextDecoder(encoding).decode(bytes)
  return /[^\0-\xff]|\n(?:---|\.\.\.)/.test(text) ? undefined : text
}

/**
 * The text of a YAML or JSON file, without a byte order mark at its start. Throws `render-limits` for a file that is too
 * large, and `yaml-encoding` for bytes that are neither UTF-8 nor one document in UTF-16 without characters above U+00FF.
 */
export function decodeText(file: FileName, bytes: Uint8Array): string {
  const origin: Origin = { repository: file.repository, file: file.path, line: 1, column: 1 }
  if (bytes.length > MAX_FILE_BYTES) {
    const message = `${file.path}: too large (${bytes.length} bytes). At most ${MAX_FILE_BYTES} bytes are read`
    throw new BailiwickError('render-limits', message, { origin, fix: 'Split the file.' })
  }
  const encoding = encodingOf(bytes)
  const wide = encoding === 'utf-8' ? undefined : wideText(bytes, encoding)
  if (wide !== undefined) return wide
  try {
    return UTF8.decode(bytes)
  } catch (cause) {
    const message = `${file.path}: not valid UTF-8`
    const details = { origin, fix: 'Save the file as UTF-8.', cause }
    throw new BailiwickError('yaml-encoding', message, details)
  }
}

type Refuse = (what: string, offset: number) => never

const PERCENT = 37
const DASH = 45
const DOT = 46
const SEPARATOR = /^---(?:[ \t]+(?:#.*)?)?\r?$/
const END_MARKER = /^\.\.\.(?:[ \t\r]|$)/
const NOTHING = /^[ \t]*(?:#.*)?\r?$/

/**
 * Into how many pieces kustomize cuts a text: at lines that start with `---`, before any YAML parser sees it, and then it
 * reads only the first document of each. Throws `yaml-ambiguous` for boundaries on which other programs disagree with it.
 */
function checkDocuments(text: string, position: Position): number {
  const refuse = (what: string, offset: number): never => {
    const origin = position(lineOf(text, offset), 1)
    const message = `${origin.file}: contains ${what}. kustomize and other YAML parsers read it differently`
    const fix = 'Start each document with `---` on its own line.'
    throw new BailiwickError('yaml-ambiguous', message, { origin, fix })
  }
  let pieces = 1
  let cut = 0
  let ended = 0
  for (let start = 0, feed = 0; feed >= 0; start = feed + 1) {
    feed = text.indexOf('\n', start)
    const code = text.charCodeAt(start)
    if (code === PERCENT) refuse('a YAML directive', start)
    else if (code === DASH && text.startsWith('---', start)) {
      checkSeparator(text, start, refuse)
      // a cut takes the line breaks on both sides, so that there is none right behind it
      if (start > cut && feed >= 0) {
        pieces++
        cut = feed + 1
      }
    } else if (code === DOT && start >= ended && END_MARKER.test(lineAt(text, start))) {
      ended = checkEnded(text, start, refuse)
    }
  }
  return pieces
}

function checkSeparator(text: string, start: number, refuse: Refuse): void {
  const line = lineAt(text, start)
  // kustomize cuts at the line breaks before separators, so what stands behind a first one stays with its document
  if (start === 0 && /^---[ \t]/.test(line)) return
  if (!SEPARATOR.test(line)) refuse('content on the line of a document separator', start)
}

/** Between an end marker and the next separator there is nothing; where that separator stands. */
function checkEnded(text: string, marker: number, refuse: Refuse): number {
  let start = nextLine(text, marker)
  while (start < text.length && !text.startsWith('---', start)) {
    const line = lineAt(text, start)
    if (!NOTHING.test(line)) refuse('content after a document end marker (...)', start)
    start = nextLine(text, start)
  }
  return start
}

function nextLine(text: string, offset: number): number {
  const feed = text.indexOf('\n', offset)
  return feed < 0 ? text.length : feed + 1
}

function lineAt(text: string, offset: number): string {
  const feed = text.indexOf('\n', offset)
  return text.slice(offset, feed < 0 ? text.length : feed)
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

/** Orders to show what follows from right to left, or as an embedded text: they are not written by hand. */
const OVERRIDES = /[\u202a-\u202e]/g
/** The same, isolated, and characters without width. Texts in some languages need them, so they count outside of text blocks only. */
const ANY = /[\u202a-\u202e\u2066-\u2069\u200b\u2060\u180e]/g
const BLOCK = /(?:^|[:\-?][ \t]+|[ \t])[|>][+-]?[1-9]?[+-]?[ \t]*(?:#.*)?$/

/** Such characters of a text, comments included (CVE-2021-42574), each where it stands first. Cheap where there are none. */
export function findUnseen(text: string, position: Position): Unseen[] {
  if (text.search(ANY) < 0) return []
  const found = new Map<string, Unseen>()
  let block: number | undefined
  for (const [index, line] of text.split('\n').entries()) {
    const indent = line.search(/[^ \r]/)
    if (block !== undefined && indent >= 0 && indent <= block) block = undefined
    for (const match of line.matchAll(block === undefined ? ANY : OVERRIDES)) {
      const character = `U+${match[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
      if (!found.has(character)) found.set(character, { character, origin: position(index + 1, match.index + 1) })
    }
    if (block === undefined && line.length < 1000 && BLOCK.test(line)) block = indent
  }
  return [...found.values()]
}
