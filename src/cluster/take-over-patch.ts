import type { Json } from '../kube/node.ts'
import { itemsAt, jsonAt, mapAt, stringAt } from './json-at.ts'

export const FIELD_MANAGER = 'bailiwick'

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
 * The JSON patch that makes fields of kubectl and kustomize-controller on an object of ours our own, so that the apply
 * that follows removes what git does not have (server-side apply removes only fields of its own manager); undefined where
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

function isOurs(entry: Json): boolean {
  return stringAt(entry, 'manager') === FIELD_MANAGER && isApply(entry) && stringAt(entry, 'subresource') === ''
}

function isTaken(entry: Json, merge: boolean): boolean {
  const manager = stringAt(entry, 'manager')
  if (stringAt(entry, 'subresource') !== '') return false
  // what Flux applied itself is ours in any case: the worker takes its place
  if (manager === 'kustomize-controller' && isApply(entry)) return true
  if (merge) return false
  return manager === 'kustomize-controller' || manager === 'before-first-apply' || manager.startsWith('kubectl')
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
