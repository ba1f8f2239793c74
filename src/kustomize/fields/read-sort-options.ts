import type { MapNode } from '../../kube/node.ts'
import type { SortOptions } from '../model/kustomization.ts'
import { mapField, refuseOtherFields, textField, textList } from './read-fields.ts'

/** The field `sortOptions`; whether its order makes sense only the root is asked. Throws `kustomize-invalid`. */
export function readSortOptions(root: MapNode): SortOptions | undefined {
  const options = mapField(root, 'sortOptions')
  if (!options) return undefined
  refuseOtherFields(options, ['order', 'legacySortOptions'], 'sortOptions')
  const order = textField(options, 'order')
  const legacy = mapField(options, 'legacySortOptions')
  if (legacy) refuseOtherFields(legacy, ['orderFirst', 'orderLast'], 'legacySortOptions')
  return {
    origin: options.origin,
    ...(order ? { order } : {}),
    ...(legacy ? { legacy: { first: textList(legacy, 'orderFirst'), last: textList(legacy, 'orderLast') } } : {}),
  }
}
