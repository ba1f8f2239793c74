import type { FleetNode } from '../fleet/model/fleet.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import { schemaOfObject } from '../kustomize/patch/merge-schema.ts'
import type { ObjectChange } from './changes.ts'
import { diffNodes, type Operation } from './diff-nodes.ts'
import { fieldChanges } from './field-changes.ts'
import { changesImmutable } from './immutable-fields.ts'
import { isForced } from './object-fate.ts'
import type { ObjectPair } from './pair-objects.ts'
import { UNSEALED } from './sealing.ts'
import { generatedBase, type SecretWords } from './secret-words.ts'

/** What an object is told by, whatever it holds. */
const NAMED = new Set(['apiVersion', 'kind', 'metadata.name', 'metadata.namespace'])

/** An object that one Kustomization renders now. */
export function addedObject({ id, now }: ObjectPair, words: SecretWords): ObjectChange {
  const whole = { path: [], now: now!.root, sealing: UNSEALED }
  const fields = fieldChanges([whole], words).filter(
    field => !NAMED.has(field.path) && !field.path.startsWith('status'),
  )
  return { id, change: 'added', fields, fieldCount: fields.length }
}

/** An object that both renderings have; undefined where what differs means nothing to the cluster. */
export function changedObject(
  { id, was, now }: ObjectPair,
  node: FleetNode,
  words: SecretWords,
): { readonly change: ObjectChange; readonly operations: readonly Operation[] } | undefined {
  const { apiVersion, kind } = idOf(now!)
  const isGenerated = generatedBase(idOf(was!).name) !== undefined
  const operations = diffNodes(was!.root, now!.root, schemaOfObject(apiVersion, kind)).filter(
    one => !isNoise(one) && !(isGenerated && one.path[0] === 'metadata' && one.path[1] === 'name'),
  )
  if (operations.length === 0) return undefined
  const fields = fieldChanges(operations, words)
  const isReplaced = changesImmutable(id, operations) || isFrozen(was!)
  const forced = isForced(node, now!)
  const change: ObjectChange = {
    id,
    ...(isReplaced ? { change: 'replaced', forced } : { change: 'changed' }),
    fields,
    fieldCount: fields.length,
  }
  return { change, operations }
}

/** A ConfigMap or Secret whose content nobody may change. */
function isFrozen({ root }: KubeObject): boolean {
  const immutable = root.fields.get('immutable')?.value
  return immutable?.type === 'scalar' && immutable.value === true
}

/** What Flux drops before it applies, or the API server writes itself (fluxcd/pkg ssa/normalize). */
const METADATA = new Set(['creationTimestamp', 'generation', 'managedFields', 'resourceVersion', 'selfLink', 'uid'])
const ANNOTATIONS =
  /^(?:kubectl\.kubernetes\.io\/last-applied-configuration$|kustomize\.toolkit\.fluxcd\.io\/checksum$|fluxcd\.io\/sync-|(?:internal\.)?config\.kubernetes\.io\/)/

/** Whether a difference means nothing to the cluster. */
function isNoise({ path, was, now }: Operation): boolean {
  const [first, second, third] = path
  if (first === 'status' || first === 'sops') return true
  if (first !== 'metadata') return false
  if (typeof second === 'string' && METADATA.has(second)) return true
  if (second !== 'annotations' && second !== 'labels') return false
  if (typeof third === 'string') return second === 'annotations' && ANNOTATIONS.test(third)
  const whole = was ?? now
  return path.length === 2 && !(was && now) && whole?.type === 'map' && [...whole.fields.keys()].every(isStripped)
}

const isStripped = (name: string): boolean => ANNOTATIONS.test(name)
