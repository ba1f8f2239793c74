import { withElement, withField, withoutField } from '../../kube/edit-node.ts'
import { at, type ListNode, type MapNode, stringAt } from '../../kube/node.ts'
import { specList, specObject } from './spec-fields.ts'

const FIELDS = ['name', 'newName', 'newTag', 'digest']

/**
 * `spec.images` merged by name into those of the file. Tag and digest are one unit: setting one clears the other, because
 * an image with both would be pulled by the old digest.
 */
export function mergeImages(file: MapNode, kustomization: MapNode): MapNode {
  const items = specList(kustomization, ['spec', 'images'])
  const [first] = items
  if (!first) return file
  const own = at(file, ['images'])
  let list: ListNode = own?.type === 'list' ? own : { type: 'list', items: [], origin: first.origin }
  for (const index of items.keys()) {
    const path = ['spec', 'images', index]
    const image = withoutEmpty(specObject(kustomization, path, FIELDS))
    const name = stringAt(image, ['name']) ?? ''
    const known = list.items.findIndex(item => (stringAt(item, ['name']) ?? '') === name)
    const target = list.items[known]
    if (target?.type === 'map') list = withElement(list, known, merged(target, image))
    else list = { ...list, items: [...list.items, image] }
  }
  return withField(file, 'images', list)
}

function withoutEmpty(image: MapNode): MapNode {
  return FIELDS.reduce((map, field) => (stringAt(map, [field]) === '' ? withoutField(map, field) : map), image)
}

function merged(target: MapNode, image: MapNode): MapNode {
  const copy = (map: MapNode, field: string): MapNode => {
    const own = image.fields.get(field)
    return own ? withField(map, field, own.value, own.key) : withoutField(map, field)
  }
  const renamed = image.fields.has('newName') ? copy(target, 'newName') : target
  const selects = image.fields.has('newTag') || image.fields.has('digest')
  return selects ? copy(copy(renamed, 'newTag'), 'digest') : renamed
}
