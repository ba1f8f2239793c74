import { BailiwickError, unlessRefused } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import type { Tree } from '../../git/tree.ts'
import { at, type Node, stringAt } from '../../kube/node.ts'
import { refuseUnknownKeys } from '../../kube/read-fields.ts'
import { type FileName, parseDocuments } from '../../kube/yaml/parse-documents.ts'
import { type NodeFailure, SEVERITIES, type Severity } from './finding.ts'

/** Where a fleet lists violations that existed before the rules, and errors that it accepts. */
export const BASELINE_FILE = '.github/bailiwick-baseline.yaml'

/** What the file lists about a violation or an evaluation error, and why it stays. */
export interface BaselineEntry {
  /** Of a violation: the severity that it had when it was listed. */
  readonly severity?: Severity
  /** Only of an error: digests of what it hides where it is accepted. Hiding anything else makes it an error again. */
  readonly hides?: readonly string[]
  readonly reason?: string
}

/** Violations and errors by fingerprint. */
export type Baseline = ReadonlyMap<string, BaselineEntry>

const FINGERPRINT = /^[0-9a-f]{32}$/
/** Keys that are notes for people; the program does not read them. */
const NOTES = ['rule', 'cluster', 'tenant', 'object', 'field']
const ERROR_NOTES = ['code', 'file', 'message']
const DIGEST = /^[0-9a-f]{8,64}$/

/** The entries of a fleet's file; none without a file. Throws `config` where it cannot be read. */
export function baselineOf(tree: Tree, repository: string): Baseline {
  const start = { repository, file: BASELINE_FILE, line: 1, column: 1 }
  const other = BASELINE_FILE.replace(/yaml$/, 'yml')
  if (tree.entry(other))
    throw refused({ ...start, file: other }, `${other} has no effect: another file name is expected`)
  const entry = tree.entry(BASELINE_FILE)
  if (entry === undefined) return new Map()
  if (entry.type !== 'file') throw refused(start, 'the baseline is not a regular file')
  return readBaseline({ repository, path: BASELINE_FILE }, tree.read(BASELINE_FILE))
}

/** What the file accepts, read from a change. An unreadable file accepts nothing, and is an error by itself. */
export function acceptedBy(tree: Tree, repository: string): Baseline {
  return unlessRefused(new Map(), () => baselineOf(tree, repository))
}

/** Whether exactly the hidden bytes are accepted. An error that hides nothing of its own is accepted by its cause. */
export function isAccepted(
  baseline: Baseline,
  { fingerprint, hides }: Pick<NodeFailure, 'fingerprint' | 'hides'>,
): boolean {
  const accepted = baseline.get(fingerprint)?.hides
  if (accepted === undefined || hides === undefined) return false
  return hides === '' || accepted.includes(hides)
}

/**
 * Reads a baseline file: `violations`, a list of maps with `fingerprint`, `severity` and notes for people, and
 * `errors`, such a list with `fingerprint` and `hides`, the digests of what each hides. Throws `config` for anything
 * else: misreading it could let a violation pass, or block every change.
 */
export function readBaseline(file: FileName, bytes: Uint8Array): Baseline {
  const documents = parseDocuments(file, bytes)
  const [root] = documents
  if (!root) return new Map()
  if (documents.length > 1) throw refused(documents[1]!.origin, 'the baseline has more than one document')
  if (root.type !== 'map') throw refused(root.origin, 'the baseline is not a map with the keys violations and errors')
  refuseUnknownKeys(root, '', ['violations', 'errors'])
  const entries = new Map(itemsOf(root, 'violations').map(readItem))
  for (const item of itemsOf(root, 'errors')) {
    const [fingerprint, { hides, ...entry }] = readError(item)
    const known = entries.get(fingerprint)
    if (known && known.hides === undefined)
      throw refused(item.origin, 'a fingerprint is listed under both errors and violations')
    entries.set(fingerprint, { ...entry, hides: [...(known?.hides ?? []), ...hides] })
  }
  return entries
}

function itemsOf(root: Node, key: 'violations' | 'errors'): readonly Node[] {
  const list = at(root, [key])
  if (!list || (list.type === 'scalar' && list.value === null)) return []
  if (list.type !== 'list') throw refused(list.origin, `${key} is not a list`)
  return list.items
}

/** The fingerprint and reason of an item, after a check that it has only known keys. */
function readStart(item: Node, list: string, keys: readonly string[]): [string, Pick<BaselineEntry, 'reason'>] {
  if (item.type !== 'map') throw refused(item.origin, `an item in ${list} is not a map`)
  refuseUnknownKeys(item, list, ['fingerprint', 'reason', ...keys])
  const fingerprint = stringAt(item, ['fingerprint'])
  if (fingerprint === undefined || !FINGERPRINT.test(fingerprint))
    throw refused(originOf(item, 'fingerprint'), 'fingerprint is not a string of 32 hex digits')
  const text = stringAt(item, ['reason'])
  return [fingerprint, text === undefined ? {} : { reason: text }]
}

function readError(item: Node): [string, BaselineEntry & Required<Pick<BaselineEntry, 'hides'>>] {
  const [fingerprint, reason] = readStart(item, 'errors', ['hides', ...ERROR_NOTES])
  const list = at(item, ['hides'])
  if (list?.type !== 'list') throw refused(originOf(item, 'hides'), 'hides is not a list of digests')
  const hides = list.items.map(one => {
    const text = stringAt(one, [])
    if (text === undefined || !DIGEST.test(text))
      throw refused(one.origin, 'hides contains a value that is not a digest')
    return text
  })
  return [fingerprint, { hides, ...reason }]
}

function readItem(item: Node): [string, BaselineEntry] {
  const [fingerprint, reason] = readStart(item, 'violations', ['severity', ...NOTES])
  if (item.type !== 'map') return [fingerprint, reason]
  if (!item.fields.has('severity')) return [fingerprint, reason]
  const severity = SEVERITIES.find(one => one === stringAt(item, ['severity']))
  if (!severity) throw refused(originOf(item, 'severity'), `severity is not one of ${SEVERITIES.join(', ')}`)
  return [fingerprint, { severity, ...reason }]
}

const originOf = (item: Node, key: string): Origin =>
  (item.type === 'map' ? item.fields.get(key)?.value.origin : undefined) ?? item.origin

function refused(origin: Origin, message: string): BailiwickError {
  const fix = `Rewrite ${BASELINE_FILE} as \`violations: [{fingerprint: ..., rule: ..., object: ...}], errors: [{fingerprint: ..., hides: [...]}]\`, or run \`bailiwick baseline\`.`
  return new BailiwickError('config', message, { origin, fix })
}
