import { kindOf } from '../../facts/kind-of.ts'
import { type Json, toJson } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { setDefaults } from '../admission/defaults.ts'
import { type ContextValue, fromJson, fromNode, isFields, isList, Unknown } from './jmespath/values.ts'

/** Metadata fields that the API server sets before admission. */
const OF_SERVER = ['uid', 'generation', 'creationTimestamp', 'managedFields', 'resourceVersion']
const values = new WeakMap<KubeObject, ContextValue>()

/** An object at admission: with the defaults of built-in kinds, and unknown values where only the cluster knows. */
export function admittedValue(object: KubeObject): ContextValue {
  const kept = values.get(object)
  if (kept !== undefined) return kept
  const json = toJson(object.root) as { [key: string]: Json }
  setDefaults(kindOf(object), json)
  const made = new Map(overlaid(fromJson(json), fromNode(object.root)) as ReadonlyMap<string, ContextValue>)
  if (object.sealed) {
    for (const key of ['data', 'stringData']) if (made.has(key)) made.set(key, new Unknown('its values are encrypted'))
  }
  made.set('status', new Unknown('status is set by the cluster'))
  const metadata = made.get('metadata')
  if (isFields(metadata)) {
    const filled = OF_SERVER.map(key => [key, new Unknown(`metadata.${key} is set by the cluster`)] as const)
    made.set('metadata', new Map<string, ContextValue>([...metadata, ...filled]))
  }
  values.set(object, made)
  return made
}

/** The first value with unknown values at the places where the second has them. */
function overlaid(value: ContextValue, written: ContextValue): ContextValue {
  if (written instanceof Unknown) return written
  if (isList(value)) {
    return isList(written) ? value.map((item, index) => overlaid(item, written[index] ?? null)) : value
  }
  if (!isFields(value) || !isFields(written)) return value
  return new Map([...value].map(([key, item]) => [key, overlaid(item, written.get(key) ?? null)]))
}
