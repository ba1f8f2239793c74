import type { Json } from '../kube/node.ts'
import type { ApplyRequest } from './apply-request.ts'
import type { ClusterClient } from './client.ts'
import { itemsAt, jsonAt, mapAt, stringAt } from './json-at.ts'

export const FIELD_MANAGER = 'bailiwick'

/**
 * On an object of ours, fields that kubectl or kustomize-controller manage become ours, so that the apply that
 * follows removes what git does not have (server-side apply removes only fields of its own manager). Flux does the
 * same for kubectl (fluxcd/pkg ssa/patch.go). Does nothing where there is no such manager.
 */
export async function takeOverFields(
  client: ClusterClient,
  { user, signal }: Pick<ApplyRequest, 'user' | 'signal'>,
  path: string,
  live: Json,
  apiVersion: string,
): Promise<void> {
  const entries = itemsAt(live, 'metadata', 'managedFields')
  const taken = entries.filter(entry => isTaken(entry) && stringAt(entry, 'apiVersion') === apiVersion)
  if (taken.length === 0) return
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
  await client.request({ user }, 'PATCH', path, {
    query: { fieldManager: FIELD_MANAGER },
    contentType: 'application/json-patch+json',
    body: [
      { op: 'test', path: '/metadata/resourceVersion', value: stringAt(live, 'metadata', 'resourceVersion') },
      { op: 'replace', path: '/metadata/managedFields', value: [...rest, merged] },
    ],
    signal,
  })
}

function isOurs(entry: Json): boolean {
  return (
    stringAt(entry, 'manager') === FIELD_MANAGER &&
    stringAt(entry, 'operation') === 'Apply' &&
    stringAt(entry, 'subresource') === ''
  )
}

function isTaken(entry: Json): boolean {
  const manager = stringAt(entry, 'manager')
  if (stringAt(entry, 'subresource') !== '') return false
  return manager === 'kustomize-controller' || manager === 'before-first-apply' || manager.startsWith('kubectl')
}

/** FieldsV1 is a tree of field names: the union of two is a deep merge. */
function union(a: Json, b: Json): Json {
  const merged: { [key: string]: Json } = { ...mapAt(a) }
  for (const [key, value] of Object.entries(mapAt(b))) {
    merged[key] = Object.hasOwn(merged, key) ? union(merged[key]!, value) : value
  }
  return merged
}
