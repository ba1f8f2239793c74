import { kindOf } from '../../facts/kind-of.ts'
import { nodeOf } from '../../fleet/model/synthetic.ts'
import { type Json, type Node, toJson } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { setDefaults } from './defaults.ts'

const known = new WeakMap<KubeObject, Node>()

/** An object with the defaults that the API server sets before admission; origins are those of the object as a whole. */
export function defaultedNode(object: KubeObject): Node {
  const kept = known.get(object)
  if (kept) return kept
  const json = toJson(object.root) as { [key: string]: Json }
  setDefaults(kindOf(object), json)
  const made = nodeOf(json, object.root.origin)
  known.set(object, made)
  return made
}
