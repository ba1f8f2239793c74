import { objectTexts } from '../fleet/graph/object-texts.ts'
import { groupOf, idOf, type KubeObject, type ObjectId } from '../kube/object.ts'
import { generatedBase } from './secret-words.ts'

/** An object before and after; only one of them where it is added or removed. */
export interface ObjectPair {
  readonly id: ObjectId
  readonly was?: KubeObject
  readonly now?: KubeObject
}

/** Group, kind, namespace and name: the version is not what tells objects apart. */
export function objectKey({ apiVersion, kind, namespace, name }: ObjectId): string {
  return [groupOf(apiVersion), kind, namespace, name].join('\0')
}

/**
 * The objects of two renderings that differ, by kind, namespace and name. A ConfigMap or Secret whose name has the hash of
 * its content is the same one with another hash.
 */
export function pairObjects(before: readonly KubeObject[], after: readonly KubeObject[]): ObjectPair[] {
  // both were written to be hashed already
  const [oldTexts, youngTexts] = [objectTexts(before), objectTexts(after)]
  const [known, present] = [new Set(oldTexts), new Set(youngTexts)]
  const old = byKey(before.filter((_, at) => !present.has(oldTexts[at]!)))
  const young = byKey(after.filter((_, at) => !known.has(youngTexts[at]!)))
  const pairs: ObjectPair[] = []
  for (const [key, was] of old) {
    const now = young.get(key)
    if (now) pairs.push({ id: idOf(now), was, now })
  }
  const gone = [...old].filter(([key]) => !young.has(key)).map(([, object]) => object)
  const come = [...young].filter(([key]) => !old.has(key)).map(([, object]) => object)
  pairs.push(...pairGenerated(gone, come))
  return pairs.sort((a, b) => (sortKey(a.id) < sortKey(b.id) ? -1 : 1))
}

function pairGenerated(gone: readonly KubeObject[], come: readonly KubeObject[]): ObjectPair[] {
  const [old, young] = [Map.groupBy(gone, generatorKey), Map.groupBy(come, generatorKey)]
  const pairs: ObjectPair[] = []
  for (const [key, objects] of old) {
    const others = young.get(key) ?? []
    const isOne = key !== undefined && objects.length === 1 && others.length === 1
    if (isOne) pairs.push({ id: plainId(others[0]!), was: objects[0]!, now: others[0]! })
    else pairs.push(...objects.map(was => ({ id: plainId(was), was })))
    if (isOne) young.delete(key)
  }
  pairs.push(...[...young.values()].flat().map(now => ({ id: plainId(now), now })))
  return pairs
}

function generatorKey(object: KubeObject): string | undefined {
  const id = idOf(object)
  const base = isGenerated(id) ? generatedBase(id.name) : undefined
  return base === undefined ? undefined : objectKey({ ...id, name: base })
}

/** The id of an object without the hash of what it holds. */
function plainId(object: KubeObject): ObjectId {
  const id = idOf(object)
  const base = isGenerated(id) ? generatedBase(id.name) : undefined
  return base === undefined ? id : { ...id, name: `${base}-*` }
}

const isGenerated = ({ apiVersion, kind }: ObjectId): boolean =>
  apiVersion === 'v1' && (kind === 'ConfigMap' || kind === 'Secret')

const byKey = (objects: readonly KubeObject[]): Map<string, KubeObject> =>
  new Map(objects.map(object => [objectKey(idOf(object)), object]))

const sortKey = ({ kind, namespace, name, apiVersion }: ObjectId): string =>
  [kind, namespace, name, apiVersion].join('\0')
