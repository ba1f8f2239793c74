import type { Json } from '../kube/node.ts'
import { itemsAt, jsonAt, mapAt, stringAt } from './json-at.ts'

/**
 * The manager of the fields of our objects has the name of Flux's: server-side apply removes only fields of its own
 * manager, so what one of the two applied is removed by the other when git has it no more, and no object has to be
 * written when a cluster changes hands.
 */
export const FIELD_MANAGER = 'kustomize-controller'
/** Of what is put on objects that are not ours: what Flux may have put there before is not to be removed. */
export const GUEST_MANAGER = 'bailiwick'

/** What Flux removes because its own or kubectl's client-side apply wrote it. */
const LEFTOVERS = {
  annotations: [
    'kubectl.kubernetes.io/last-applied-configuration',
    'kustomize.toolkit.fluxcd.io/checksum',
    'fluxcd.io/sync-checksum',
  ],
  labels: ['fluxcd.io/sync-gc-mark'],
} as const

interface TakeOver {
  readonly live: Json
  /** Normalised, of the same object. */
  readonly desired: Json
  /** `ssa: Merge`: the fields of people and other tools stay. */
  readonly merge: boolean
}

/**
 * The JSON patch that makes fields of kubectl, of Flux before server-side apply, and of ours as a guest on an object of
 * ours our own, so that the apply that follows removes what git does not have (server-side apply removes only fields of its own manager); undefined where
 * there is nothing to take. Flux does the same for kubectl, except for `ssa: Merge` (fluxcd/pkg ssa/patch.go).
 */
export function takeOverPatch({ live, desired, merge }: TakeOver): Json | undefined {
  const operations = [
    ...managedFields(live, stringAt(desired, 'apiVersion'), merge),
    ...leftovers(live, desired, merge),
  ]
  if (operations.length === 0) return undefined
  const value = stringAt(live, 'metadata', 'resourceVersion')
  return [{ op: 'test', path: '/metadata/resourceVersion', value }, ...operations]
}

function managedFields(live: Json, apiVersion: string, merge: boolean): Json[] {
  const entries = itemsAt(live, 'metadata', 'managedFields')
  const taken = entries.filter(entry => isTaken(entry, merge) && stringAt(entry, 'apiVersion') === apiVersion)
  if (taken.length === 0) return []
  const ours = entries.filter(entry => isOurs(entry) && stringAt(entry, 'apiVersion') === apiVersion)
  const merged: Json = {
    manager: FIELD_MANAGER,
    operation: 'Apply',
    apiVersion,
    time: stringAt(taken[0], 'time'),
    fieldsType: 'FieldsV1',
    fieldsV1: [...ours, ...taken].map(entry => jsonAt(entry, 'fieldsV1') ?? {}).reduce<Json>(union, {}),
  }
  const rest = entries.filter(entry => !taken.includes(entry) && !ours.includes(entry))
  return [{ op: 'replace', path: '/metadata/managedFields', value: [...rest, merged] }]
}

function leftovers(live: Json, desired: Json, merge: boolean): Json[] {
  if (merge) return []
  return (['annotations', 'labels'] as const).flatMap(part => {
    const [there, wanted] = [mapAt(live, 'metadata', part), mapAt(desired, 'metadata', part)]
    const gone = LEFTOVERS[part].filter(key => Object.hasOwn(there, key) && !Object.hasOwn(wanted, key))
    return gone.map(key => ({ op: 'remove', path: `/metadata/${part}/${key.replaceAll('/', '~1')}` }))
  })
}

export function isOurs(entry: Json): boolean {
  return stringAt(entry, 'manager') === FIELD_MANAGER && isApply(entry) && stringAt(entry, 'subresource') === ''
}

export function isTaken(entry: Json, merge: boolean): boolean {
  const manager = stringAt(entry, 'manager')
  if (stringAt(entry, 'subresource') !== '') return false
  // what we put there ourselves is ours in any case
  if (manager === GUEST_MANAGER) return true
  if (merge) return false
  if (manager === FIELD_MANAGER) return !isApply(entry)
  return manager === 'before-first-apply' || manager.startsWith('kubectl')
}

function isApply(entry: Json): boolean {
  return stringAt(entry, 'operation') === 'Apply'
}

/** FieldsV1 is a tree of field names: the union of two is a deep merge. */
function union(a: Json, b: Json): Json {
  const merged: { [key: string]: Json } = { ...mapAt(a) }
  for (const [key, value] of Object.entries(mapAt(b))) {
    merged[key] = Object.hasOwn(merged, key) ? union(merged[key]!, value) : value
  }
  return merged
}
