import { BailiwickError } from '../../errors.ts'
import type { Tree } from '../../git/tree.ts'
import { type Node, stringAt } from '../../kube/node.ts'
import type { Origin } from '../../kube/origin.ts'
import { parseDocuments } from '../../kube/parse-documents.ts'
import type { FileName } from '../../kube/yaml/decode-text.ts'
import type { Severity } from '../finding.ts'
import { shown } from '../shown.ts'
import { SEVERITIES } from './level-of.ts'
import type { Known } from './states.ts'

/** Where a fleet lists the violations that were there before the rules were. */
export const BASELINE_FILE = '.github/bailiwick-baseline.yaml'

/** What the file says about a violation: the severity that it had when it was listed, and why it stays. */
export interface BaselineEntry {
  readonly severity?: Severity
  readonly reason?: string
}

/** Violations by fingerprint. */
export type Baseline = ReadonlyMap<string, BaselineEntry>

const FINGERPRINT = /^[0-9a-f]{32}$/
/** Written for people beside what is read. */
const NOTES = ['rule', 'cluster', 'tenant', 'object', 'field']

/** What the file of a fleet lists; nothing where there is none. Throws `config` where it cannot be read. */
export function baselineOf(tree: Tree, repository: string): Baseline {
  const start = { repository, file: BASELINE_FILE, line: 1, column: 1 }
  const other = BASELINE_FILE.replace(/yaml$/, 'yml')
  if (tree.entry(other)) throw refused({ ...start, file: other }, `a file ${other} counts for nothing`)
  const entry = tree.entry(BASELINE_FILE)
  if (entry === undefined) return new Map()
  if (entry.type !== 'file') throw refused(start, 'the baseline is no plain file')
  return readBaseline({ repository, path: BASELINE_FILE }, tree.read(BASELINE_FILE))
}

/** The entries as what stands: one without a severity stands whatever the rules make of it later. */
export function knownOfBaseline(baseline: Baseline): Known {
  return new Map(
    [...baseline].map(([fingerprint, { severity = 'critical' }]) => [fingerprint, { level: 'violation', severity }]),
  )
}

/**
 * Reads a baseline file: `violations`, a list of maps with `fingerprint`, `severity` and notes for people. Throws
 * `config` for anything else in it: a baseline that is misread would let a violation pass, or block everybody.
 */
export function readBaseline(file: FileName, bytes: Uint8Array): Baseline {
  const documents = parseDocuments(file, bytes)
  const [root] = documents
  if (!root) return new Map()
  if (documents.length > 1) throw refused(documents[1]!.origin, 'the baseline has more than one document')
  if (root.type !== 'map') throw refused(root.origin, 'the baseline is not a map with the key violations')
  for (const [key, field] of root.fields) {
    if (key !== 'violations') throw refused(field.key, `the baseline has the unknown key ${shown(key)}`)
  }
  const list = root.fields.get('violations')?.value
  if (!list || (list.type === 'scalar' && list.value === null)) return new Map()
  if (list.type !== 'list') throw refused(list.origin, 'violations is not a list')
  return new Map(list.items.map(readItem))
}

function readItem(item: Node): [string, BaselineEntry] {
  if (item.type !== 'map') throw refused(item.origin, 'an item of violations is not a map')
  for (const [key, field] of item.fields) {
    if (!['fingerprint', 'severity', 'reason', ...NOTES].includes(key))
      throw refused(field.key, `an item has the unknown key ${shown(key)}`)
  }
  const fingerprint = stringAt(item, ['fingerprint'])
  if (fingerprint === undefined || !FINGERPRINT.test(fingerprint))
    throw refused(originOf(item, 'fingerprint'), 'fingerprint is not text of 32 hex digits')
  const text = stringAt(item, ['reason'])
  const reason = text === undefined ? {} : { reason: text }
  if (!item.fields.has('severity')) return [fingerprint, reason]
  const severity = SEVERITIES.find(one => one === stringAt(item, ['severity']))
  if (!severity) throw refused(originOf(item, 'severity'), `severity is none of ${SEVERITIES.join(', ')}`)
  return [fingerprint, { severity, ...reason }]
}

const originOf = (item: Node, key: string): Origin =>
  (item.type === 'map' ? item.fields.get(key)?.value.origin : undefined) ?? item.origin

function refused(origin: Origin, message: string): BailiwickError {
  const fix = `Write ${BASELINE_FILE} as: violations: [{fingerprint: "...", rule: ..., object: ...}].`
  return new BailiwickError('config', message, { origin, fix })
}
