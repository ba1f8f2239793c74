import { setNamespace } from './set-namespace.ts'
import type { Transformer } from './transformer.ts'

/** The field `namespace`. */
export const namespace: Transformer = (resources, { kustomization, config, budget }) => {
  if (!kustomization.namespace) return
  budget.spendOnRenaming(resources.all, kustomization.namespace.origin)
  setNamespace(resources, kustomization.namespace, config.namespace)
}
