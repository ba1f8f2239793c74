import { textNode, withField, withoutField } from '../../kube/edit-node.ts'
import { at, type ListNode, type MapNode, type Node, type Path, toJson } from '../../kube/node.ts'
import type { Origin, Step } from '../../origin.ts'
import { localComponents, type PathState } from './local-components.ts'
import { mergeImages } from './merge-images.ts'
import { specList, specObject, specText, specTexts, wrongType } from './spec-fields.ts'

const SELECTOR = ['group', 'version', 'kind', 'name', 'namespace', 'labelSelector', 'annotationSelector']

/**
 * The kustomization with what the spec of a Flux Kustomization adds to it (fluxcd/pkg kustomize, GenerateManifest):
 * namespace, prefix, suffix and build metadata replace those of the file, patches and components come after them, images
 * merge by name. `find` says where a component's path leads to. Throws `flux-invalid` for what the API server refuses.
 */
export function mergeSpec(file: MapNode, kustomization: MapNode, find: (path: string) => PathState): MapNode {
  let root = replaceText(file, kustomization, 'targetNamespace', 'namespace')
  root = replaceText(root, kustomization, 'namePrefix', 'namePrefix')
  root = replaceText(root, kustomization, 'nameSuffix', 'nameSuffix')
  root = append(root, 'patches', patchesOf(kustomization))
  root = append(root, 'components', localComponents(kustomization, find))
  root = append(root, 'patchesStrategicMerge', strategicMergePatches(kustomization))
  root = append(root, 'patchesJson6902', jsonPatches(kustomization))
  root = mergeImages(root, kustomization)
  const metadata = specTexts(kustomization, ['spec', 'buildMetadata'])
  return metadata.length > 0 ? withField(root, 'buildMetadata', listOf(metadata)) : root
}

function replaceText(root: MapNode, kustomization: MapNode, from: string, to: string): MapNode {
  const node = specText(kustomization, ['spec', from])
  if (!node) return root
  if (node.value === '') return withoutField(root, to)
  const quoted = { ...textNode(node.value, throughSpec(node.origin, from)), quoted: true }
  return withField(root, to, quoted, node.origin)
}

function throughSpec(origin: Origin, field: string): Origin {
  if (field !== 'targetNamespace') return origin
  const step: Step = { step: 'flux-target-namespace', file: origin.file, line: origin.line }
  return { ...origin, via: [...(origin.via ?? []), step] }
}

function append(root: MapNode, field: string, items: readonly Node[]): MapNode {
  if (items.length === 0) return root
  const list = at(root, [field])
  return withField(root, field, list?.type === 'list' ? { ...list, items: [...list.items, ...items] } : listOf(items))
}

const listOf = (items: readonly Node[]): ListNode => ({ type: 'list', items, origin: items[0]!.origin })

function patchesOf(root: MapNode): Node[] {
  return specList(root, ['spec', 'patches']).map((_item, index) => {
    const path = ['spec', 'patches', index]
    return withTarget(specObject(root, path, ['patch'], ['target']), root, path)
  })
}

function withTarget(entry: MapNode, root: MapNode, path: Path): MapNode {
  if (!entry.fields.has('target')) return entry
  return withField(entry, 'target', specObject(root, [...path, 'target'], SELECTOR))
}

/** Of older versions of the API: Flux hands each one on as JSON. */
function strategicMergePatches(root: MapNode): Node[] {
  return specList(root, ['spec', 'patchesStrategicMerge']).map((patch, index) => {
    if (patch.type !== 'map') return wrongType(root, ['spec', 'patchesStrategicMerge', index], 'an object')
    return { ...textNode(JSON.stringify(toJson(patch)), patch.origin), quoted: true }
  })
}

function jsonPatches(root: MapNode): Node[] {
  return specList(root, ['spec', 'patchesJson6902']).map((_item, index) => {
    const path = ['spec', 'patchesJson6902', index]
    const entry = withTarget(specObject(root, path, [], ['patch', 'target']), root, path)
    const operations = specList(root, [...path, 'patch']).map((_one, place) =>
      specObject(root, [...path, 'patch', place], ['op', 'path', 'from'], ['value']),
    )
    const text = JSON.stringify(operations.map(toJson))
    return withField(entry, 'patch', { ...textNode(text, entry.origin), quoted: true })
  })
}
