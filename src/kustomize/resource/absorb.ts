import { BailiwickError } from '../../errors.ts'
import { isAbsent, isEmpty, withField, withoutField, withValueAt, writtenText } from '../../kube/edit-node.ts'
import { at, type Field, type MapNode, type Path, stringAt } from '../../kube/node.ts'
import { currentId, describe, type Resource, resourceOrigin } from './resource.ts'
import type { ResourceList } from './resource-list.ts'
import { valueNode } from './value-node.ts'

/**
 * Adds a generated object, or lets it replace or extend the one that has (or had) its identity; which of them its
 * `behavior` says (api/resmap/reswrangler.go). Throws `kustomize-invalid` where the behavior does not fit what is there.
 */
export function absorb(resources: ResourceList, generated: Resource): void {
  const id = currentId(generated)
  const [old, second] = resources.findByAnyId(id)
  const { behavior } = generated
  const changes = behavior === 'merge' || behavior === 'replace'
  if (second) fail(`${describe(id)}: matches more than one object`, generated)
  if (!old) {
    if (changes) fail(`${describe(id)}: does not exist, so behavior ${behavior} is not possible`, generated)
    resources.append(generated)
    return
  }
  if (!changes) fail(`${describe(id)}: exists already. Set behavior to merge or replace`, generated)
  const root = withOldMetadata(generated.root, old.root)
  // a patch may have made the old object one of another kind, which kustomize then does not find
  if (old.current.kind !== id.kind) fail(`${describe(old.current)}: not a ${id.kind}`, generated)
  old.root = behavior === 'merge' ? withOldData(root, old.root) : root
  old.trail = [...old.trail, ...generated.trail]
  old.needsHash &&= generated.needsHash
}

/** Name and namespace are those that the old object has now; labels and annotations are those of both. */
function withOldMetadata(root: MapNode, old: MapNode): MapNode {
  let result = withTextsOfBoth(root, old, ['metadata', 'labels'])
  result = withTextsOfBoth(result, old, ['metadata', 'annotations'])
  const name = at(old, ['metadata', 'name'])
  if (name) result = withValueAt(result, ['metadata', 'name'], name)
  const namespace = at(old, ['metadata', 'namespace'])
  if (namespace && stringAt(old, ['metadata', 'namespace'])) {
    return withValueAt(result, ['metadata', 'namespace'], namespace)
  }
  const metadata = at(result, ['metadata'])
  return metadata?.type === 'map' ? withField(result, 'metadata', withoutField(metadata, 'namespace')) : result
}

function withOldData(root: MapNode, old: MapNode): MapNode {
  return withTextsOfBoth(withTextsOfBoth(root, old, ['data']), old, ['binaryData'])
}

/** The maps of both objects as one from text to text; the own value wins, no value is not a map. */
function withTextsOfBoth(root: MapNode, old: MapNode, path: readonly string[]): MapNode {
  const fields = new Map([...textsAt(old, path), ...textsAt(root, path)])
  const parentPath = path.slice(0, -1)
  const key = path.at(-1)!
  const origin = at(root, path)?.origin ?? at(old, path)?.origin ?? root.origin
  if (fields.size > 0) return withValueAt(root, path, { type: 'map', fields, origin })
  const parent = at(root, parentPath)
  if (parent?.type !== 'map' || !parent.fields.has(key)) return root
  const without = withoutField(parent, key)
  return parentPath.length === 0 ? without : withValueAt(root, parentPath, without)
}

function textsAt(root: MapNode, path: Path): [string, Field][] {
  const map = at(root, path)
  if (map?.type !== 'map' || isEmpty(map)) return []
  return [...map.fields].map(([key, { key: origin, value }]) => {
    // of a null in data kustomize sees nothing, of one in labels what was written
    const text = path.length === 1 && isAbsent(value) ? '' : writtenText(value)
    const opaque = value.type === 'scalar' && value.opaque ? { opaque: value.opaque } : {}
    return [key, { key: origin, value: { ...valueNode(text, value.origin), ...opaque } }]
  })
}

function fail(message: string, generated: Resource): never {
  throw new BailiwickError('kustomize-invalid', message, { origin: resourceOrigin(generated) })
}
