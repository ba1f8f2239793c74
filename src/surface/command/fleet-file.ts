import { type Document, isMap, isScalar, isSeq, type Pair, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml'
import type { BailiwickError } from '../../base/errors.ts'
import { code } from '../../base/markup.ts'
import { readFleetText } from '../../fleet/config/fleet-file.ts'
import { type Enforcement, FLEET_FILE, type FleetConfig, type Waiver } from '../../fleet/model/fleet-config.ts'
import { refKey } from '../../fleet/model/source-ref.ts'
import { normaliseUrl } from '../../kube/source-address.ts'
import type { SourceUse } from '../../rules/model/finding.ts'
import { commandError } from './command-line.ts'
import { subjectKey, type WaiverEntry } from './waiver.ts'

/**
 * Appends an item to a list of the fleet's file; all other text stays, comments included. `lines`: the item as YAML in block
 * style. Throws `command-input` for an unusual layout.
 */
function withItem(text: string, key: string, lines: readonly string[]): string {
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

/** The value of a key; undefined without such a key, an empty list if it has no value. */
function listOf(text: string, key: string): YAMLSeq | undefined {
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

/** A string that every YAML reader reads alike: plain only if it cannot mean anything else. */
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

/** The file cannot be edited by a command. */
function unfit(what: string, fix = BY_HAND): BailiwickError {
  return commandError(`${FLEET_FILE} ${what}`, fix)
}

const BY_HAND = 'Write the entry by hand in a pull request; docs/fleet-file.md shows how.'

/** Where a node of the document begins and ends. */
function rangeOf(node: unknown): readonly [number, number] {
  const range = (node as { range?: readonly [number, number, number] } | null | undefined)?.range
  if (!range) throw unfit('is written in an unusual layout')
  return [range[0], range[1]]
}

/** The line break of a text. */
const eol = (text: string) => (text.includes('\r\n') ? '\r\n' : '\n')

/** Ends a text with a line break. */
const withNewline = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}${eol(text)}`)

/** Where the line break of a line is, or the end of the text. */
function endOfLine(text: string, from: number): number {
  const at = text.indexOf('\n', Math.max(0, from))
  return at < 0 ? text.length : at
}

/**
 * Adds waivers to the fleet's file: an entry for the same subject is updated in place, others are appended to the list.
 * All other text stays, comments included. `text` is undefined without a file. Throws `command-input` if the file
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

/** The waivers in the text of the fleet's file. Throws `command-input` for a file that cannot be read. */
export function fleetFileWaivers(text: string | undefined): readonly Waiver[] {
  const { error, waivers } = readFleetText(text ?? '')
  if (error) throw unfit(`cannot be read: ${error.message}`)
  return waivers
}

/**
 * Removes waivers from the fleet's file; all other text stays, comments included. Throws `command-input` if the file cannot be
 * read or has an unusual layout.
 */
export function withoutWaivers(text: string, gone: readonly Waiver[]): string {
  const keys = new Set(gone.map(subjectKey))
  const before = fleetFileWaivers(text)
  const edited = before.reduceRight(
    (done, waiver, index) => (keys.has(subjectKey(waiver)) ? withoutItem(done, 'waivers', index) : done),
    text,
  )
  const left = fleetFileWaivers(edited).map(subjectKey)
  const wanted = before.map(subjectKey).filter(key => !keys.has(key))
  if (JSON.stringify(left) !== JSON.stringify(wanted) || others(edited) !== others(text))
    throw unfit('cannot lose this entry')
  return edited
}

/** Whole lines are cut out; with its last item a list goes too. */
function withoutItem(text: string, key: string, index: number): string {
  const list = listOf(text, key)
  if (list === undefined || list.flow) throw unfit(`has \`${key}\` between brackets`)
  const lineOf = (node: unknown) => text.lastIndexOf('\n', rangeOf(node)[0] - 1) + 1
  const end = endOfLine(text, rangeOf(list.items[index])[1] - 1) + 1
  if (list.items.length > 1) return text.slice(0, lineOf(list.items[index])) + text.slice(end)
  const pair = open(text).map?.items.find(one => isScalar(one.key) && one.key.value === key)
  return text.slice(0, lineOf(pair?.key)) + text.slice(end)
}

/** Everything in the file but its waivers, wherever it is. */
function others(text: string): string {
  const shown = (key: string, value: unknown) => (key === 'origin' ? '' : value instanceof Map ? [...value] : value)
  return JSON.stringify({ ...readFleetText(text), waivers: [], namedRules: [] }, shown)
}

function withWaiver(text: string, entry: WaiverEntry): string {
  const index = readFleetText(text).waivers.findIndex(one => subjectKey(one) === subjectKey(entry))
  return isMap(listOf(text, 'waivers')?.items[index])
    ? withTerms(text, index, entry)
    : withItem(text, 'waivers', waiversBlock(entry))
}

/** Updates an existing entry field by field, so that comments between the fields stay. */
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
function waiversBlock(entry: WaiverEntry): string[] {
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

/** Reads the result as evaluations do: it must have every earlier waiver and the requested ones. */
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

/**
 * Adds sources of tenants to `approvedSources` in the fleet's file; all other text stays. `text` is undefined if there is no
 * file. Throws `command-input` if the file cannot be read or has an unusual layout.
 */
export function withApprovedSources(text: string | undefined, uses: readonly SourceUse[]): string {
  const before = readFleetText(text ?? '')
  if (before.error) throw unfit(`cannot be read: ${before.error.message}`)
  const listed = new Set(before.approvedSources.map(keyOf))
  const added = uses.filter(use => !listed.has(keyOf(use)))
  const edited = added.reduce((done, use) => withItem(done, 'approvedSources', linesOf(use)), text ?? '')
  const { error, approvedSources } = readFleetText(edited)
  const written = approvedSources.map(keyOf)
  const wanted = [...listed, ...added.map(keyOf)]
  if (error || JSON.stringify(written) !== JSON.stringify(wanted)) throw unfit('cannot take this entry')
  return edited
}

const keyOf = ({ tenant, url, ref, account }: SourceUse) =>
  JSON.stringify([tenant, normaliseUrl(url), refKey(ref), account])

function linesOf({ tenant, url, ref, account }: SourceUse): string[] {
  const fields = Object.entries(ref).map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
  return [
    `tenant: ${scalar(tenant)}`,
    `url: ${JSON.stringify(url)}`,
    `ref: {${fields.join(', ')}}`,
    `account: ${JSON.stringify(account)}`,
  ]
}

/** The key at the start of a line: nothing that belongs to another value can be there. */
const KEY = /^(["']?)enforcement\1[ \t]*:.*$/m
const LINE = /^((["']?)enforcement\2[ \t]*:[ \t]*)(["']?)(?:report|block)\3((?:[ \t]+#.*|[ \t]*)\r?)$/m

/**
 * Sets the enforcement in the fleet's file; all other text stays, comments included. `text` is undefined if there is no
 * file. Throws `command-input` if the value is already set, or if the file cannot be read or edited line by line.
 */
export function withEnforcement(text: string | undefined, wanted: Enforcement): string {
  const before = text ?? ''
  const known = readFleetText(before)
  if (known.error) throw unfit(`cannot be read: ${known.error.message}`, BY_YOURSELF)
  if (known.enforcement === wanted)
    throw commandError(`the fleet already has \`enforcement: ${wanted}\``, 'No change is needed.')
  const edited = KEY.test(before)
    ? before.replace(LINE, `$1${wanted}$4`)
    : `${withNewline(before)}enforcement: ${wanted}\n`
  const after = readFleetText(edited)
  if (after.error || after.enforcement !== wanted || rest(after) !== rest(known)) {
    throw unfit('is written in a way that cannot be changed line by line', BY_YOURSELF)
  }
  return edited
}

/** Everything else in the file. */
function rest(config: FleetConfig): string {
  const fields = Object.entries({ ...config, enforcement: '' }).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(fields, (_, value: unknown) => (value instanceof Map ? [...value] : value))
}

const BY_YOURSELF = 'Write `enforcement: report` or `enforcement: block` into it yourself.'

const BODIES: Readonly<Record<Enforcement, readonly string[]>> = {
  report: [
    'Once this is merged, violations of the whole fleet are reported as warnings without blocking: for the first weeks, while people learn the rules. Evaluation errors still block.',
    'The comment `/bailiwick enforcement block` reverts it. For a single tenant, use `tenants[].enforcement` in the same file.',
  ],
  block: [
    'Once this is merged, new violations block again. Existing violations do not: pull requests are compared with their base, branches with the baseline.',
    'The comment `/bailiwick enforcement report` reverts it.',
  ],
}

/** Title and body of the pull request that switches between reporting and blocking violations. */
export function enforcementText(wanted: Enforcement, by: string, issue: number): { title: string; body: string } {
  const title = wanted === 'report' ? 'Report violations without blocking' : 'Block new violations'
  return { title, body: [...BODIES[wanted], `Requested by ${code(by, 60)} in #${issue}.`].join('\n\n') }
}
