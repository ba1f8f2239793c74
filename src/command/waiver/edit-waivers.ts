import { type Document, isMap, isScalar, isSeq, type Pair, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml'
import { BailiwickError } from '../../errors.ts'
import { readFleetText } from '../../fleet/config/read-fleet-file.ts'
import { FLEET_FILE } from '../../fleet/model/fleet-config.ts'
import { subjectKey, type WaiverEntry } from './waiver-entry.ts'

/**
 * Adds waivers to the fleet's file: an entry for the same subject is updated in place, others are appended to the list.
 * All other text stays, comments included. `text` is undefined if there is no file. Throws `command-input` if the file
 * cannot be read or has an unusual layout.
 */
export function withWaivers(text: string | undefined, entries: readonly WaiverEntry[]): string {
  const before = text ?? ''
  const known = readFleetText(before)
  if (known.error) throw unfit(`cannot be read: ${known.error.message}`)
  let edited = before
  for (const entry of entries) edited = withWaiver(edited, entry)
  verify(edited, known.waivers.map(subjectKey), entries)
  return edited
}

function withWaiver(text: string, entry: WaiverEntry): string {
  const list = waiversOf(text)
  if (list === undefined) return `${withNewline(text)}waivers:${eol(text)}${block(entry, '  ', eol(text))}`
  if (list.items.length === 0) return withFirst(text, list, entry)
  const index = readFleetText(text).waivers.findIndex(one => subjectKey(one) === subjectKey(entry))
  const item = list.items[index]
  if (isMap(item)) return withTerms(text, index, entry)
  return withLast(text, list, entry)
}

/** The value of `waivers`; undefined where there is no such key, an empty list where it has no value. */
function waiversOf(text: string): YAMLSeq | undefined {
  const { map } = open(text)
  const pair = map?.items.find(one => isScalar(one.key) && one.key.value === 'waivers')
  if (!pair) return undefined
  if (isSeq(pair.value)) return pair.value
  throw unfit('has `waivers` without a list')
}

/** `waivers: []` becomes a list with one item. */
function withFirst(text: string, list: YAMLSeq, entry: WaiverEntry): string {
  const [start, end] = rangeOf(list)
  if (text.slice(start, end).replace(/\s/g, '') !== '[]') throw unfit('has an empty `waivers` with a comment in it')
  const line = endOfLine(text, end)
  const head = text.slice(0, start).replace(/[ \t]+$/, '')
  return `${head}${text.slice(end, line)}${eol(text)}${block(entry, '  ', eol(text))}${text.slice(line + 1)}`
}

function withLast(text: string, list: YAMLSeq, entry: WaiverEntry): string {
  if (list.flow) throw unfit('has `waivers` between brackets')
  const [first] = list.items
  const [start] = rangeOf(first)
  const dash = /^([ ]*)- *$/.exec(text.slice(text.lastIndexOf('\n', start - 1) + 1, start))
  if (!dash) throw unfit('has `waivers` in an unusual layout')
  const end = endOfLine(text, rangeOf(list.items.at(-1))[1] - 1)
  const before = end >= text.length ? withNewline(text) : text.slice(0, end + 1)
  return `${before}${block(entry, dash[1] ?? '', eol(text))}${text.slice(end + 1)}`
}

/** The fields of an entry that is there, one by one: comments between them stay. */
function withTerms(text: string, index: number, entry: WaiverEntry): string {
  let edited = text
  const terms = (['reason', 'requester', 'approver', 'expires'] as const).map(
    key => [key, entry[key] === undefined ? undefined : scalar(entry[key])] as const,
  )
  for (const [key, value] of [['violations', flow(entry)] as const, ...terms]) {
    const item = waiversOf(edited)?.items[index]
    if (!isMap(item) || item.flow) throw unfit('has a waiver between braces')
    edited = withField(edited, item, key, value)
  }
  return edited
}

/** `value`: as YAML, on one line. */
function withField(text: string, item: YAMLMap, key: string, value: string | undefined): string {
  const pair = item.items.find(one => isScalar(one.key) && one.key.value === key)
  if (!pair && value === undefined) return text
  if (!pair) {
    const last = item.items.at(-1)
    const end = endOfLine(text, pairEnd(last) - 1)
    const before = end >= text.length ? withNewline(text) : text.slice(0, end + 1)
    const indent = ' '.repeat(column(text, rangeOf(last?.key)[0]))
    return `${before}${indent}${key}: ${value ?? ''}${eol(text)}${text.slice(end + 1)}`
  }
  if (isSeq(pair.value) && !pair.value.flow) throw unfit(`has ${key} of a waiver as lines of their own`)
  const [start, end] = rangeOf(pair.value)
  if (value !== undefined) return `${text.slice(0, start)}${value}${text.slice(end)}`
  const line = text.lastIndexOf('\n', rangeOf(pair.key)[0] - 1) + 1
  if (text.slice(line, rangeOf(pair.key)[0]).trim() !== '') throw unfit(`has a waiver that begins with ${key}`)
  return text.slice(0, line) + text.slice(endOfLine(text, end - 1) + 1)
}

/** An entry as a block of lines. */
function block(entry: WaiverEntry, indent: string, end: string): string {
  const { rule, cluster, kind, namespace, name, reason, requester, approver, expires } = entry
  const object = [`kind: ${scalar(kind)}`, ...(namespace === '' ? [] : [`namespace: ${scalar(namespace)}`])]
  return [
    `${indent}- rule: ${scalar(rule)}`,
    `${indent}  object:`,
    ...[...object, `name: ${scalar(name)}`].map(line => `${indent}    ${line}`),
    `${indent}  cluster: ${scalar(cluster)}`,
    `${indent}  violations: ${flow(entry)}`,
    `${indent}  reason: ${scalar(reason)}`,
    `${indent}  requester: ${scalar(requester)}`,
    ...(approver === undefined ? [] : [`${indent}  approver: ${scalar(approver)}`]),
    `${indent}  expires: ${scalar(expires)}`,
    '',
  ].join(end)
}

/** What an entry accepts, on one line. */
function flow({ violations }: WaiverEntry): string {
  const items = violations.map(({ fingerprint, severity, field }) => {
    const more = [
      ...(severity === undefined ? [] : [`severity: ${severity}`]),
      ...(field === undefined ? [] : [`field: ${JSON.stringify(field)}`]),
    ]
    return `{${[`fingerprint: "${fingerprint}"`, ...more].join(', ')}}`
  })
  return `[${items.join(', ')}]`
}

/** Text that every reader of YAML takes for the same text: plain only where nothing else can be meant. */
function scalar(value: string): string {
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

/** What was written is read by the reader that counts: every waiver that was there, and those that were asked for. */
function verify(text: string, before: readonly string[], entries: readonly WaiverEntry[]): void {
  const { error, waivers } = readFleetText(text)
  if (error) throw unfit(`would not be readable: ${error.message}`)
  const wanted = new Set([...before, ...entries.map(subjectKey)])
  const fits = entries.every(entry => {
    const written = waivers.find(one => subjectKey(one) === subjectKey(entry))
    const isSame = (['reason', 'requester', 'approver', 'expires'] as const).every(key => written?.[key] === entry[key])
    return isSame && JSON.stringify(written?.violations) === JSON.stringify(entry.violations)
  })
  if (fits && waivers.length === wanted.size && waivers.every(one => wanted.has(subjectKey(one)))) return
  throw unfit('cannot take this entry')
}

function unfit(what: string): BailiwickError {
  return new BailiwickError('command-input', `${FLEET_FILE} ${what}`, {
    fix: 'Write the entry by hand in a pull request; docs/fleet-file.md shows how.',
  })
}

function rangeOf(node: unknown): readonly [number, number] {
  const range = (node as { range?: readonly [number, number, number] } | null | undefined)?.range
  if (!range) throw unfit('is written in an unusual layout')
  return [range[0], range[1]]
}

const pairEnd = (pair: Pair | undefined) => rangeOf(pair?.value)[1]
const column = (text: string, at: number) => at - (text.lastIndexOf('\n', at - 1) + 1)
const eol = (text: string) => (text.includes('\r\n') ? '\r\n' : '\n')
const withNewline = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}${eol(text)}`)

/** Where the line break of a line is, or the end of the text. */
function endOfLine(text: string, from: number): number {
  const at = text.indexOf('\n', Math.max(0, from))
  return at < 0 ? text.length : at
}
