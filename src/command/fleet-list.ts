import { type Document, isMap, isScalar, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml'
import { BailiwickError } from '../errors.ts'
import { FLEET_FILE } from '../fleet/model/fleet-config.ts'

/**
 * Appends an item to a list of the fleet's file; all other text stays, comments included. `lines`: the item as YAML in block
 * style. Throws `command-input` for an unusual layout.
 */
export function withItem(text: string, key: string, lines: readonly string[]): string {
  const list = listOf(text, key)
  const end = eol(text)
  if (list === undefined) return `${withNewline(text)}${key}:${end}${block(lines, '  ', end)}`
  if (list.items.length === 0) return withFirst(text, key, list, lines)
  if (list.flow) throw unfit(`has \`${key}\` between brackets`)
  const [start] = rangeOf(list.items[0])
  const dash = /^([ ]*)- *$/.exec(text.slice(text.lastIndexOf('\n', start - 1) + 1, start))
  if (!dash) throw unfit(`has \`${key}\` in an unusual layout`)
  const last = endOfLine(text, rangeOf(list.items.at(-1))[1] - 1)
  const before = last >= text.length ? withNewline(text) : text.slice(0, last + 1)
  return `${before}${block(lines, dash[1] ?? '', end)}${text.slice(last + 1)}`
}

/** The value of a key; undefined where there is no such key, an empty list where it has no value. */
export function listOf(text: string, key: string): YAMLSeq | undefined {
  const { map } = open(text)
  const pair = map?.items.find(one => isScalar(one.key) && one.key.value === key)
  if (!pair) return undefined
  if (isSeq(pair.value)) return pair.value
  throw unfit(`has \`${key}\` without a list`)
}

/** `key: []` becomes a list with one item. */
function withFirst(text: string, key: string, list: YAMLSeq, lines: readonly string[]): string {
  const [start, end] = rangeOf(list)
  if (text.slice(start, end).replace(/\s/g, '') !== '[]') throw unfit(`has an empty \`${key}\` with a comment in it`)
  const line = endOfLine(text, end)
  const head = text.slice(0, start).replace(/[ \t]+$/, '')
  return `${head}${text.slice(end, line)}${eol(text)}${block(lines, '  ', eol(text))}${text.slice(line + 1)}`
}

const block = (lines: readonly string[], indent: string, end: string): string =>
  lines.map((line, index) => `${indent}${index === 0 ? '- ' : '  '}${line}${end}`).join('')

/** Text that every reader of YAML takes for the same text: plain only where nothing else can be meant. */
export function scalar(value: string): string {
  const plain = /^[A-Za-z][A-Za-z0-9./-]*$/.test(value) && !/^(?:y|n|yes|no|on|off|true|false|null|none)$/i.test(value)
  return plain ? value : JSON.stringify(value)
}

function open(text: string): { document: Document; map: YAMLMap | undefined } {
  const document = parseDocument(text)
  if (document.errors.length > 0) throw unfit('is no YAML')
  if (document.contents === null) return { document, map: undefined }
  if (!isMap(document.contents) || document.contents.flow) throw unfit('is not one map in block style')
  return { document, map: document.contents }
}

/** The file cannot be edited by a command. */
export function unfit(what: string): BailiwickError {
  return new BailiwickError('command-input', `${FLEET_FILE} ${what}`, {
    fix: 'Write the entry by hand in a pull request; docs/fleet-file.md shows how.',
  })
}

/** Where a node of the document begins and ends. */
export function rangeOf(node: unknown): readonly [number, number] {
  const range = (node as { range?: readonly [number, number, number] } | null | undefined)?.range
  if (!range) throw unfit('is written in an unusual layout')
  return [range[0], range[1]]
}

/** The line break of a text. */
export const eol = (text: string) => (text.includes('\r\n') ? '\r\n' : '\n')

/** With one at its end. */
export const withNewline = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}${eol(text)}`)

/** Where the line break of a line is, or the end of the text. */
export function endOfLine(text: string, from: number): number {
  const at = text.indexOf('\n', Math.max(0, from))
  return at < 0 ? text.length : at
}
