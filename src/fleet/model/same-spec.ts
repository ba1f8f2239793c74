import { at, canonical } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'

/**
 * Whether two versions of one object of Flux say the same to its controllers. Labels and annotations, which every
 * Kustomization may add to what it renders, are no part of that.
 */
export function isSameSpec(one: KubeObject, other: KubeObject): boolean {
  const [first, second] = [one, other].map(({ root }) => at(root, ['spec']))
  return (first ? canonical(first) : '') === (second ? canonical(second) : '')
}
