import { affixNames } from './affix-names.ts'
import type { Transformer } from './transformer.ts'

/** The fields `namePrefix` and `nameSuffix`. */
export const nameAffixes: Transformer = (resources, { kustomization, config, budget }) => {
  const { namePrefix, nameSuffix } = kustomization
  if (namePrefix?.text) {
    budget.spendOnRenaming(resources.all, namePrefix.origin)
    affixNames(resources, namePrefix, 'prefixes', config.namePrefix)
  }
  if (nameSuffix?.text) {
    budget.spendOnRenaming(resources.all, nameSuffix.origin)
    affixNames(resources, nameSuffix, 'suffixes', config.nameSuffix)
  }
}
