import type { Fleet, FleetNode } from '../fleet/model/fleet.ts'
import { canonical } from '../kube/node.ts'
import { display, idOf, type KubeObject } from '../kube/object.ts'
import type { IsDoomed } from './entries.ts'

type IsExpected = (before: KubeObject, after: KubeObject) => boolean

/**
 * Why `after` is not exactly `before` without the removed objects; undefined if it is, and everything else renders
 * as before. `ending`: keys of the nodes that are removed with it. `isExpected`: whether a change of an object is part of it.
 */
export function compareOffboarded(
  before: Fleet,
  after: Fleet,
  isDoomed: IsDoomed,
  ending: ReadonlySet<string>,
  isExpected: IsExpected = () => false,
): string | undefined {
  const now = new Map(after.nodes.map(node => [node.key, node]))
  const old = new Set(before.nodes.map(({ key }) => key))
  for (const node of before.nodes) {
    const other = now.get(node.key)
    if (ending.has(node.key)) {
      if (other) return `the Kustomization ${node.key} would still be there`
      continue
    }
    if (!other) return `the Kustomization ${node.key} would be gone`
    const problem = compareNode(node, other, isDoomed, isExpected)
    if (problem !== undefined) return problem
  }
  const fresh = after.nodes.find(({ key }) => !old.has(key))
  return fresh && `the Kustomization ${fresh.key} would be new`
}

function compareNode(
  before: FleetNode,
  after: FleetNode,
  isDoomed: IsDoomed,
  isExpected: IsExpected,
): string | undefined {
  if (after.error?.message !== before.error?.message) return `${before.key} would fail: ${after.error?.message}`
  if ((after.holes ?? []).length > (before.holes ?? []).length) {
    return `${before.key} would not build as a whole: ${after.holes![0]!.error.message}`
  }
  const now = new Map(after.objects.map(object => [keyOf(object), object]))
  for (const object of before.objects) {
    const name = `${display(idOf(object))} on ${before.cluster}`
    const other = now.get(keyOf(object))
    now.delete(keyOf(object))
    if (isDoomed({ node: before, object })) {
      if (other) return `${name} would still be there`
      continue
    }
    if (!other) return `${name} would be gone`
    if (canonical(other.root) !== canonical(object.root) && !isExpected(object, other)) return `${name} would change`
  }
  const [stray] = now.values()
  return stray && `${display(idOf(stray))} on ${before.cluster} would be new`
}

const keyOf = (object: KubeObject) => JSON.stringify(idOf(object))
