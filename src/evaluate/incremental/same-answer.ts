import type { FleetNode } from '../../fleet/model/fleet.ts'
import { sameButObjects } from '../../fleet/model/same-node.ts'
import type { KubeObject } from '../../kube/object.ts'

/**
 * Whether two answers of an index are the same for whoever asked: objects are the very same ones, of nodes everything
 * counts but what they render. Rather different than the same, where it cannot be told.
 */
export function sameAnswer(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (isNode(a)) return isNode(b) && sameButObjects(a, b)
  if (isObject(a)) return false
  if (Array.isArray(a)) return Array.isArray(b) && sameList(a, b)
  if (a instanceof Map) return b instanceof Map && sameList([...a].flat(), [...b].flat())
  if (a instanceof Set) return b instanceof Set && sameList([...a], [...b])
  const prototype: unknown = Object.getPrototypeOf(a)
  if (prototype !== Object.getPrototypeOf(b) || (prototype !== Object.prototype && prototype !== null)) return false
  return sameList(Object.entries(a).flat(), Object.entries(b).flat())
}

function sameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => sameAnswer(item, b[index]))
}

const isNode = (value: object): value is FleetNode => 'kustomization' in value && 'identity' in value

const isObject = (value: object): value is KubeObject => 'root' in value && 'trail' in value
