import type { MapNode, Node } from '../../kube/node.ts'
import type { ImageEntry } from '../model/kustomization.ts'
import { listField, refuseOtherFields, structNode, textField } from './read-fields.ts'

const IMAGE_PARTS = ['name', 'newName', 'newTag', 'digest', 'tagSuffix'] as const

/** The fields `images` and `imageTags`, its old name. Throws `kustomize-invalid` for what kustomize would not decode. */
export function readImages(root: MapNode): ImageEntry[] {
  return [...listField(root, 'images'), ...listField(root, 'imageTags')].map(readImage)
}

/** One entry of `images`. */
export function readImage(node: Node): ImageEntry {
  const entry = structNode(node, 'images[]')
  refuseOtherFields(entry, IMAGE_PARTS, 'images')
  const parts = IMAGE_PARTS.map(name => [name, textField(entry, name)] as const)
  return { origin: entry.origin, ...Object.fromEntries(parts.filter(([, part]) => part?.text)) }
}
