import { idOf, type KubeObject } from '../../kube/object.ts'
import { sameDeep } from '../model/same-deep.ts'

/**
 * The same objects, each of them that was there before, with all its origins, being the very object of before: whoever
 * compares by identity then sees what changed. The list itself is that of before where nothing did.
 */
export function internObjects(objects: readonly KubeObject[], before: readonly KubeObject[]): readonly KubeObject[] {
  const known = Map.groupBy(before, keyOf)
  const interned = objects.map(object => {
    const list = known.get(keyOf(object))
    const index = list?.findIndex(other => sameDeep(other, object)) ?? -1
    return index < 0 ? object : list!.splice(index, 1)[0]!
  })
  const isSame = interned.length === before.length && interned.every((object, index) => object === before[index])
  return isSame ? before : interned
}

const keyOf = (object: KubeObject): string => Object.values(idOf(object)).join('\0')
