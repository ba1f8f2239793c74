import { isMap, isScalar, isSeq, type Pair, type YAMLMap } from 'yaml'
import { readFleetText } from '../../fleet/config/read-fleet-file.ts'
import { endOfLine, eol, listOf, rangeOf, scalar, unfit, withItem, withNewline } from '../fleet-list.ts'
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
  const index = readFleetText(text).waivers.findIndex(one => subjectKey(one) === subjectKey(entry))
  return isMap(listOf(text, 'waivers')?.items[index])
    ? withTerms(text, index, entry)
    : withItem(text, 'waivers', block(entry))
}

/** The fields of an entry that is there, one by one: comments between them stay. */
function withTerms(text: string, index: number, entry: WaiverEntry): string {
  let edited = text
  const terms = (['reason', 'requester', 'approver', 'expires'] as const).map(
    key => [key, entry[key] === undefined ? undefined : scalar(entry[key])] as const,
  )
  for (const [key, value] of [['violations', flow(entry)] as const, ...terms]) {
    const item = listOf(edited, 'waivers')?.items[index]
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

/** An entry as lines. */
function block(entry: WaiverEntry): string[] {
  const { rule, cluster, kind, namespace, name, reason, requester, approver, expires } = entry
  const object = [`kind: ${scalar(kind)}`, ...(namespace === '' ? [] : [`namespace: ${scalar(namespace)}`])]
  return [
    `rule: ${scalar(rule)}`,
    'object:',
    ...[...object, `name: ${scalar(name)}`].map(line => `  ${line}`),
    `cluster: ${scalar(cluster)}`,
    `violations: ${flow(entry)}`,
    `reason: ${scalar(reason)}`,
    `requester: ${scalar(requester)}`,
    ...(approver === undefined ? [] : [`approver: ${scalar(approver)}`]),
    `expires: ${scalar(expires)}`,
  ]
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

const pairEnd = (pair: Pair | undefined) => rangeOf(pair?.value)[1]
const column = (text: string, at: number) => at - (text.lastIndexOf('\n', at - 1) + 1)
