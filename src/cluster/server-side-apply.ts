import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { KUSTOMIZE_GROUP } from '../kube/flux-kinds.ts'
import type { Json } from '../kube/node.ts'
import { type ClusterClient, METADATA_ONLY } from './client.ts'
import { clusterError } from './cluster-error.ts'
import { itemsAt, jsonAt, mapAt, stringAt } from './json.ts'
import { ADOPT } from './ownership.ts'

interface Applying {
  readonly user: string
  readonly path: string
  readonly body: Json
  /** Takes fields of other managers. */
  readonly force: boolean
  /** The object is not ours. */
  readonly guest?: boolean
  readonly dryRun: boolean
  /** The answer is the whole object, not its metadata alone. */
  readonly whole?: boolean
  readonly signal?: AbortSignal | undefined
}

/**
 * One server-side apply as the user; the object as it is afterwards, or would be.
 * Throws ClusterError for every refusal, 404 included.
 */
export async function serverSideApply(client: ClusterClient, applying: Applying): Promise<Json> {
  const { user, path, body, force, guest = false, dryRun, whole = false, signal } = applying
  const fieldManager = guest ? GUEST_MANAGER : FIELD_MANAGER
  const response = await client.request({ user }, 'PATCH', path, {
    query: { fieldManager, force: String(force), ...(dryRun ? { dryRun: 'All' } : {}) },
    contentType: 'application/apply-patch+yaml',
    ...(whole ? {} : { accept: METADATA_ONLY }),
    body,
    signal,
  })
  if (response.status === 404) throw clusterError(client.name, 404, response.body)
  return response.body
}

/**
 * The manager of the fields of our objects has the name of Flux's: server-side apply removes only fields of its own
 * manager, so each of the two removes what the other applied once it is gone from git, and no object has to be written
 * when a cluster changes hands.
 */
export const FIELD_MANAGER = 'kustomize-controller'
/** For objects that are not ours: what Flux may have put there before must not be removed. */
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

function isTaken(entry: Json, merge: boolean): boolean {
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

/** What someone else changed of an object: names only, never a value. */
export interface ObjectDrift {
  /** Fields that an apply puts back, `spec.replicas`; not all of them. */
  readonly fields: readonly string[]
  /** Field managers to which the API server ascribes them, by name; empty where it names none. */
  readonly managers: readonly string[]
}

const MAX_FIELDS = 10
const MAX_MANAGERS = 5
const MAX_DEPTH = 40

type Path = readonly (string | number)[]

/** What an apply would put back, by its dry run, and who has these fields now. Linear in the object. */
export function driftOf(live: Json, dryRun: Json): ObjectDrift {
  const paths: Path[] = []
  differences(comparedPart(live), comparedPart(dryRun), [], paths)
  const entries = itemsAt(live, 'metadata', 'managedFields').filter(
    entry => !isOurs(entry) && stringAt(entry, 'subresource') === '',
  )
  const owning = entries.filter(entry => paths.length === 0 || paths.some(path => owns(entry, path)))
  const managers = new Set(owning.map(entry => stringAt(entry, 'manager')).filter(name => name !== ''))
  return { fields: paths.map(textOf), managers: [...managers].sort().slice(0, MAX_MANAGERS) }
}

function comparedPart(object: Json): Json {
  const { metadata: _metadata, status: _status, ...content } = mapAt(object)
  const labels = { ...mapAt(object, 'metadata', 'labels') }
  const annotations = { ...mapAt(object, 'metadata', 'annotations') }
  return { metadata: { labels, annotations }, ...content }
}

function differences(was: Json | undefined, now: Json | undefined, path: Path, found: Path[]): void {
  if (found.length >= MAX_FIELDS || isDeepStrictEqual(was, now)) return
  const isList = Array.isArray(was) && Array.isArray(now)
  if (path.length >= MAX_DEPTH || !(isList || (isMap(was) && isMap(now)))) {
    found.push(path)
    return
  }
  if (isList) {
    const length = Math.max(was.length, now.length)
    for (let at = 0; at < length && found.length < MAX_FIELDS; at++) differences(was[at], now[at], [...path, at], found)
    return
  }
  const [before, after] = [mapAt(was), mapAt(now)]
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
    differences(jsonAt(before, key), jsonAt(after, key), [...path, key], found)
}

const isMap = (value: Json | undefined): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Items of lists have keys of their own there: the list counts for each of them. */
function owns(entry: Json, path: Path): boolean {
  let here = jsonAt(entry, 'fieldsV1')
  for (const step of path) {
    if (typeof step === 'number') return here !== undefined
    here = jsonAt(here, `f:${step}`)
    if (here === undefined) return false
  }
  return true
}

function textOf(path: Path): string {
  return path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`)).join('')
}

/**
 * Whether an apply would change the live object, by what its dry run gave: any field but status and what the API server
 * keeps in metadata. As Flux's hasDrifted (fluxcd/pkg ssa/manager_diff.go), which leaves out finalizers and owners.
 */
export function hasDrifted(live: Json, dryRun: Json): boolean {
  return !isDeepStrictEqual(compared(live), compared(dryRun))
}

/** Without labels is the same as with no label. */
function compared(object: Json): Json {
  const { metadata: _metadata, status: _status, ...content } = mapAt(object)
  return {
    labels: { ...mapAt(object, 'metadata', 'labels') },
    annotations: { ...mapAt(object, 'metadata', 'annotations') },
    finalizers: [...itemsAt(object, 'metadata', 'finalizers')],
    ownerReferences: [...itemsAt(object, 'metadata', 'ownerReferences')],
    content,
  }
}

/**
 * A digest of the metadata of a live object about our fields: which are ours, which belong to managers whose fields we
 * take over, and the switches that decide what an apply does. A change of one of our fields takes it out of our managed
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

/** Whether an apply would take over fields of another manager, whatever their values are. */
export function reowns(live: Json, dryRun: Json): boolean {
  const [before, after] = [live, dryRun].map(object =>
    itemsAt(object, 'metadata', 'managedFields')
      .filter(isOurs)
      .map(entry => [stringAt(entry, 'apiVersion'), jsonAt(entry, 'fieldsV1')]),
  )
  return JSON.stringify(before) !== JSON.stringify(after)
}
