import type { Entry } from '../model/entry.ts'
import type { TransformingField } from './field.ts'
import { textField } from './read-fields.ts'
import { setNamespace } from './set-namespace.ts'

export const namespace: TransformingField<Entry | undefined> = {
  goType: 'string',
  effect: 'changes',
  toEach: true,
  read: root => textField(root, 'namespace'),
  apply: (resources, value, { config, budget }) => {
    if (!value) return
    budget.spendOnRenaming(resources.all, value.origin)
    setNamespace(resources, value, config.namespace)
  },
  docs: { built: 'objects, subjects named `default`, references to moved objects' },
}
