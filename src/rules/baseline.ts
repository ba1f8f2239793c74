import { BailiwickError } from '../errors.ts'
import type { Node } from '../kube/node.ts'
import type { Origin } from '../kube/origin.ts'
import { parseDocuments } from '../kube/parse-documents.ts'
import type { FileName } from '../kube/yaml/decode-text.ts'
import { shown } from './shown.ts'

/** Where a fleet lists the violations that were there before the rules were. */
export const BASELINE_FILE = '.github/bailiwick-baseline.yaml'

const FINGERPRINT = /^[0-9a-f]{32}$/
/** Written for people beside the fingerprint; nothing reads them. */
const NOTES = ['rule', 'cluster', 'tenant', 'object', 'field', 'reason']

/**
 * The fingerprints of a baseline file: `violations`, a list of maps with `fingerprint` and notes for people. Throws
 * `config` for anything else in it: a baseline that is misread would let a violation pass, or block everybody.
 */
export function readBaseline(file: FileName, bytes: Uint8Array): ReadonlySet<string> {
  const documents = parseDocuments(file, bytes)
  const [root] = documents
  if (!root) return new Set()
  if (documents.length > 1) throw refused(documents[1]!.origin, 'the baseline has more than one document')
  if (root.type !== 'map') throw refused(root.origin, 'the baseline is not a map with the key violations')
  for (const [key, field] of root.fields) {
    if (key !== 'violations') throw refused(field.key, `the baseline has the unknown key ${shown(key)}`)
  }
  const list = root.fields.get('violations')?.value
  if (!list || (list.type === 'scalar' && list.value === null)) return new Set()
  if (list.type !== 'list') throw refused(list.origin, 'violations is not a list')
  return new Set(list.items.map(readItem))
}

function readItem(item: Node): string {
  if (item.type !== 'map') throw refused(item.origin, 'an item of violations is not a map')
  for (const [key, field] of item.fields) {
    if (key !== 'fingerprint' && !NOTES.includes(key))
      throw refused(field.key, `an item has the unknown key ${shown(key)}`)
  }
  const value = item.fields.get('fingerprint')?.value
  if (value?.type === 'scalar' && typeof value.value === 'string' && FINGERPRINT.test(value.value)) return value.value
  throw refused(value?.origin ?? item.origin, 'fingerprint is not text of 32 hex digits')
}

function refused(origin: Origin, message: string): BailiwickError {
  const fix = `Write ${BASELINE_FILE} as: violations: [{fingerprint: "...", rule: ..., object: ...}].`
  return new BailiwickError('config', message, { origin, fix })
}
