import type { Origin } from '../../origin.ts'
import type { Entry } from '../model/entry.ts'
import type { KustomizationField } from './field.ts'
import { mapField, refuseOtherFields, textField, textList } from './read-fields.ts'

/** The order of the objects; of a base it has no effect. */
export interface SortOptions {
  readonly origin: Origin
  readonly order?: Entry
  /** Kinds that come first and last, in place of kustomize's own. */
  readonly legacy?: { readonly first: readonly Entry[]; readonly last: readonly Entry[] }
}

/** Whether its order makes sense only the root is asked (`sortObjects`). */
export const sortOptions: KustomizationField<SortOptions | undefined> = {
  goType: '*SortOptions',
  effect: 'itself',
  read: root => {
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
  },
  docs: { built: 'of the root; has no effect in a base' },
}
