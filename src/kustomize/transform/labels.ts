import { METADATA_LABELS } from './label-fields.ts'
import { setLabels } from './set-labels.ts'
import type { Transformer } from './transformer.ts'

/** The field `labels`: an entry goes to the metadata, and to templates and selectors where it says so. */
export const labels: Transformer = (resources, { kustomization, config, budget }) => {
  for (const { pairs, includeSelectors, includeTemplates } of kustomization.labels) {
    const [first] = pairs
    if (!first) continue
    budget.spendOnEach(resources.all, first[1].origin)
    const own = includeTemplates ? config.templateLabels : [METADATA_LABELS]
    setLabels(resources, pairs, [...config.labels, ...(includeSelectors ? config.commonLabels : own)])
  }
}
