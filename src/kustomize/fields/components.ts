import { itemsOf } from '../../kube/node.ts'
import type { Entry } from '../model/entry.ts'
import type { KustomizationField } from './field.ts'
import { textList } from './read-fields.ts'

/** Directories whose kustomizations work on what this one has. */
export const components: KustomizationField<readonly Entry[]> = {
  goType: '[string',
  effect: 'brings',
  leftOut: { objects: 'also' },
  paths: itemsOf,
  mayBePinned: true,
  read: root => textList(root, 'components'),
  docs: { built: 'directories with a `Component`, from the same places as `resources`', refused: 'as `resources`' },
}
