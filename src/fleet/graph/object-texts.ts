import { canonical } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'

const known = new WeakMap<readonly KubeObject[], readonly string[]>()

/** Canonical text of each object; the same list is written only once. */
export function objectTexts(objects: readonly KubeObject[]): readonly string[] {
  const before = known.get(objects)
  if (before) return before
  const texts = objects.map(object => canonical(object.root))
  known.set(objects, texts)
  return texts
}
