import {
  type Document,
  isMap,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  stringify,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { BailiwickError } from '../../base/errors.ts'

/** Path of the file, for error messages. */
interface EditedFile {
  readonly path: string
  readonly text: string
}

/** An item of a list: a path, or fields such as those of a patch. */
type ListItem = string | Readonly<Record<string, unknown>>

/**
 * Adds an item at the end of a top-level list and leaves every other character alone. A list in brackets becomes one of lines, by
 * which offboarding finds its items. Throws `onboard-layout`.
 */
export function addToList(file: EditedFile, key: string, item: ListItem): string {
  const { document, map } = open(file)
  const inline = typeof item === 'string' ? item : stringify(item, { lineWidth: 0 }).trimEnd()
  const pair = pairOf(map, key)
  const list = pair?.value
  let text: string
  if (!pair)
    text = `${withNewline(file.text)}${key}:${eol(file.text)}${itemText(file.text, dashIndent(file.text), inline)}`
  else if (isSeq(list) && !list.flow && list.items.length > 0) text = afterLastItem(file.text, list.items, inline)
  else text = ''
  if (isSeq(list)) {
    list.add(document.createNode(item))
    list.flow = false
  } else document.set(key, [item])
  return verified(file, text, document)
}

/** Removes a top-level field together with its line. */
export function removeField(file: EditedFile, key: string): string {
  const { document, map } = open(file)
  const range = pairOf(map, key) && rangeOf(pairOf(map, key)!)
  document.delete(key)
  if (!range) return file.text
  const start = file.text.lastIndexOf('\n', range.start) + 1
  const end = file.text.indexOf('\n', range.end - 1)
  return verified(file, file.text.slice(0, start) + (end < 0 ? '' : file.text.slice(end + 1)), document)
}

/** An item of a top-level list, with the lines (from 1) that it is written on. */
interface ListedItem {
  readonly key: string
  readonly index: number
  readonly first: number
  readonly last: number
}

/**
 * Removes items of top-level lists and leaves every other character alone. A list that ends without items goes with its key;
 * `resources` stays as an empty one, because a kustomization without any field is refused. Throws `onboard-layout`.
 */
export function removeItems(file: EditedFile, isRemoved: (item: ListedItem) => boolean): string {
  const { document, map } = open(file)
  const lines = new LineCounter()
  parseDocument(file.text, { lineCounter: lines })
  let text = file.text
  // from the end, so that the offsets of what comes before stay right
  for (const pair of [...map.items].reverse()) {
    const list = pair.value
    if (!isSeq(list)) continue
    const key = String(pair.key)
    const gone = listedItems(key, list, lines).filter(isRemoved)
    if (gone.length === 0) continue
    const isEmptied = gone.length === list.items.length
    text = isEmptied ? withoutList(text, pair, key) : withoutItems(text, list, gone)
    for (const { index } of [...gone].reverse()) list.delete(index)
    if (isEmptied && key === 'resources') document.set(key, [])
    else if (isEmptied) document.delete(key)
  }
  return text === file.text ? text : verified(file, text, document)
}

function listedItems(key: string, list: YAMLSeq, lines: LineCounter): ListedItem[] {
  return list.items.map((item, index) => {
    const range = (item as { range?: [number, number, number] }).range ?? [0, 0, 0]
    return {
      key,
      index,
      first: lines.linePos(range[0]).line,
      last: lines.linePos(Math.max(range[0], range[1] - 1)).line,
    }
  })
}

function withoutItems(text: string, list: YAMLSeq, gone: readonly ListedItem[]): string {
  if (list.flow) return ''
  const lines = text.split('\n')
  const cut = new Set(gone.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, i) => first + i)))
  return lines.filter((_, index) => !cut.has(index + 1)).join('\n')
}

function withoutList(text: string, pair: Pair, key: string): string {
  const range = rangeOf(pair)
  if (!range) return ''
  const start = text.lastIndexOf('\n', range.start - 1) + 1
  const end = text.indexOf('\n', Math.max(range.start, range.end - 1))
  const left = key === 'resources' ? `${key}: []${eol(text)}` : ''
  return `${text.slice(0, start)}${left}${end < 0 ? '' : text.slice(end + 1)}`
}

/** Sets the top-level `namespace` of a kustomization that has none, before `resources`. */
export function addNamespace(file: EditedFile, namespace: string): string {
  const { document, map } = open(file)
  const resources = pairOf(map, 'resources')
  const start = resources ? file.text.lastIndexOf('\n', rangeOf(resources)?.start ?? 0) + 1 : -1
  document.set('namespace', namespace)
  const text =
    start < 0 ? '' : `${file.text.slice(0, start)}namespace: ${namespace}${eol(file.text)}${file.text.slice(start)}`
  return verified(file, text, document)
}

/** The file as plain data. Throws `onboard-layout` for what is not one plain YAML map. */
export function readKustomization(file: EditedFile): Record<string, unknown> {
  const data: unknown = open(file).document.toJS({ maxAliasCount: 0 })
  return data as Record<string, unknown>
}

function open(file: EditedFile): { document: Document; map: YAMLMap } {
  const document = parseDocument(file.text)
  if (document.errors.length > 0 || !isMap(document.contents)) {
    throw layoutError(file, 'is not a YAML file with one map', `Make ${file.path} a plain kustomization.`)
  }
  visit(document, {
    Alias: () => {
      throw layoutError(file, 'uses a YAML alias', `Replace the alias in ${file.path} with its value.`)
    },
  })
  return { document, map: document.contents }
}

function layoutError({ path }: EditedFile, what: string, fix: string): BailiwickError {
  return new BailiwickError('onboard-layout', `${path} ${what}`, {
    fix,
    origin: { repository: '', file: path, line: 1, column: 1 },
  })
}

/** The edited text where it means what the document means, else the document written anew (comments stay, layout may not). */
function verified(file: EditedFile, text: string, expected: Document): string {
  if (text !== '') {
    const got = parseDocument(text)
    if (got.errors.length === 0 && stableText(got.toJS()) === stableText(expected.toJS())) return text
  }
  return expected.toString({ lineWidth: 0, indentSeq: dashIndent(file.text) !== '' })
}

function afterLastItem(text: string, items: readonly unknown[], inline: string): string {
  const first = (items[0] as { range?: [number, number, number] }).range
  const last = (items.at(-1) as { range?: [number, number, number] }).range
  if (!first || !last) return ''
  const lineStart = text.lastIndexOf('\n', first[0] - 1) + 1
  const indent = /^[ ]*(?=- )/.exec(text.slice(lineStart))?.[0]
  if (indent === undefined) return ''
  const end = text.indexOf('\n', Math.max(last[0], last[1] - 1))
  const before = end < 0 ? `${text}${eol(text)}` : text.slice(0, end + 1)
  return `${before}${itemText(text, indent, inline)}${end < 0 ? '' : text.slice(end + 1)}`
}

/** An item of a list; its other lines come below the first. */
function itemText(text: string, indent: string, inline: string): string {
  const lines = inline.split('\n').map((line, index) => `${indent}${index === 0 ? '- ' : '  '}${line}${eol(text)}`)
  return lines.join('')
}

function pairOf(map: YAMLMap, key: string): Pair | undefined {
  return map.items.find(pair => String(pair.key) === key)
}

function rangeOf(pair: Pair): { start: number; end: number } | undefined {
  const key = (pair.key as { range?: [number, number, number] }).range
  const value = (pair.value as { range?: [number, number, number] } | null)?.range
  return key && { start: key[0], end: value?.[1] ?? key[1] }
}

const withNewline = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}${eol(text)}`)
const eol = (text: string) => (text.includes('\r\n') ? '\r\n' : '\n')
const dashIndent = (text: string) => /^([ ]*)- /m.exec(text)?.[1] ?? '  '

/** Text of plain data in which the order of keys does not show: equal text means equal data. */
export function stableText(data: unknown): string {
  return JSON.stringify(data, (_key, value: unknown) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? { map: Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)) }
      : value,
  )
}
