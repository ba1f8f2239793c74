import type { Node } from '../../kube/node.ts'
import type { TransformingField } from './field.ts'
import type { ImageEntry } from './image-name.ts'
import { listField, refuseOtherFields, structNode, textField } from './read-fields.ts'
import { setImages } from './set-images.ts'

const IMAGE_PARTS = ['name', 'newName', 'newTag', 'digest', 'tagSuffix'] as const

export const images: TransformingField<readonly ImageEntry[]> = {
  olderNames: ['imageTags'],
  goType: '[Image',
  effect: 'changes',
  toEach: true,
  read: root => [...listField(root, 'images'), ...listField(root, 'imageTags')].map(readImage),
  apply: (resources, entries, { config, budget }) => setImages(resources, entries, config.images, budget),
  docs: {
    built: 'all fields; every `containers` and `initContainers`, and image volumes',
    refused: 'a `name` with a regular expression that `patches` does not support either',
  },
}

/** One entry of `images`. Throws `kustomize-invalid` for what kustomize would not decode. */
export function readImage(node: Node): ImageEntry {
  const entry = structNode(node, 'images[]')
  refuseOtherFields(entry, IMAGE_PARTS, 'images')
  const parts = IMAGE_PARTS.map(name => [name, textField(entry, name)] as const)
  return { origin: entry.origin, ...Object.fromEntries(parts.filter(([, part]) => part?.text)) }
}
