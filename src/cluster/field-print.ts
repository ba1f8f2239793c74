import { hash } from 'node:crypto'
import { KUSTOMIZE_GROUP } from '../flux/kinds.ts'
import type { Json } from '../kube/node.ts'
import { itemsAt, jsonAt, mapAt, stringAt } from './json-at.ts'
import { ADOPT } from './ownership.ts'
import { isOurs, isTaken } from './take-over-patch.ts'

/**
 * A digest of what the metadata of a live object says about our fields: which are ours, which somebody has whose fields we
 * take over, and the switches that decide what an apply does. Whoever changes a field of ours takes it out of our managed
 * fields, so the digest changes; status, and fields of others beside ours, do not count.
 */
export function fieldPrint(object: Json): string {
  const entries = itemsAt(object, 'metadata', 'managedFields').filter(entry => isOurs(entry) || isTaken(entry, false))
  const fields = entries.map(entry => [
    stringAt(entry, 'manager'),
    stringAt(entry, 'apiVersion'),
    jsonAt(entry, 'fieldsV1'),
  ])
  const switches = ['labels', 'annotations'].map(part =>
    Object.entries(mapAt(object, 'metadata', part))
      .filter(([name]) => name.startsWith(`${KUSTOMIZE_GROUP}/`) || name === ADOPT)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
  return hash('sha256', JSON.stringify([fields, switches]), 'base64').slice(0, 16)
}

/** Whether an apply would make fields ours that are somebody else's now, whatever their values are. */
export function reowns(live: Json, dryRun: Json): boolean {
  const [before, after] = [live, dryRun].map(object =>
    itemsAt(object, 'metadata', 'managedFields')
      .filter(isOurs)
      .map(entry => [stringAt(entry, 'apiVersion'), jsonAt(entry, 'fieldsV1')]),
  )
  return JSON.stringify(before) !== JSON.stringify(after)
}
