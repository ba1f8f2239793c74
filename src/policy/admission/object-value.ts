import { CelMap, type CelValue, fromJson, NotKnown } from '../../cel/values.ts'
import { kindOf } from '../../facts/kind-of.ts'
import { type Json, type Node, toJson } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { AdmissionWorld } from './admission-world.ts'
import { setDefaults } from './defaults.ts'

/** Fields of `metadata` that the API server fills in before admission. */
const OF_SERVER = ['uid', 'generation', 'creationTimestamp', 'managedFields', 'resourceVersion', 'selfLink']

const known = new WeakMap<KubeObject, CelValue>()

/**
 * An object as admission sees it: with the defaults of Kubernetes' own kinds, and with unknown values where only the cluster
 * has them.
 */
function objectValue(object: KubeObject): CelValue {
  const kept = known.get(object)
  if (kept !== undefined) return kept
  const json = toJson(object.root) as { [key: string]: Json }
  setDefaults(kindOf(object), json)
  const value = withUnknown(fromJson(json), object.root)
  const entries = new Map((value as CelMap).entries)
  if (object.sealed) for (const key of ['data', 'stringData']) put(entries, key, 'its values are encrypted')
  put(entries, 'status', 'status', true)
  const metadata = entries.get('smetadata')?.[1]
  if (metadata instanceof CelMap) {
    const fields = new Map(metadata.entries)
    for (const key of OF_SERVER) put(fields, key, `metadata.${key}`, true)
    entries.set('smetadata', ['metadata', new CelMap(fields)])
  }
  const made = new CelMap(entries)
  known.set(object, made)
  return made
}

/** An object as the policies of a world see it; in a policy test as it is written. */
export function objectValueIn(world: Pick<AdmissionWorld, 'given'>, object: KubeObject): CelValue {
  return world.given ? withUnknown(fromJson(toJson(object.root)), object.root) : objectValue(object)
}

function put(entries: Map<string, readonly [CelValue, CelValue]>, key: string, what: string, always = false): void {
  if (!always && !entries.has(`s${key}`)) return
  const why = always ? `${what} is set by the cluster` : what
  entries.set(`s${key}`, [key, new NotKnown(why)])
}

/** Replaces values that only the cluster can substitute by unknown values, and restores large integers. */
function withUnknown(value: CelValue, node: Node): CelValue {
  if (node.type === 'scalar') {
    if (node.opaque) return new NotKnown('a value that only the cluster has')
    // plain JSON cannot represent large integers
    return typeof node.value === 'bigint' ? node.value : value
  }
  if (!isSpecial(node)) return value
  if (node.type === 'list') {
    return Array.isArray(value) ? value.map((item, index) => withUnknown(item, node.items[index]!)) : value
  }
  if (!(value instanceof CelMap)) return value
  const entries = new Map(value.entries)
  for (const [key, { value: child }] of node.fields) {
    const entry = entries.get(`s${key}`)
    if (entry) entries.set(`s${key}`, [key, withUnknown(entry[1], child)])
  }
  return new CelMap(entries)
}

/** Whether the node contains a value that plain JSON cannot represent. */
function isSpecial(node: Node): boolean {
  if (node.type === 'scalar') return node.opaque !== undefined || typeof node.value === 'bigint'
  if (node.type === 'list') return node.items.some(isSpecial)
  return [...node.fields.values()].some(field => isSpecial(field.value))
}
