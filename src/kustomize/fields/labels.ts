import type { Origin } from '../../origin.ts'
import type { FieldSpec, LabelEntry } from '../model/kustomization.ts'
import { METADATA_LABELS } from './label-fields.ts'
import { mergeFieldSpecs } from './merge-field-specs.ts'
import { setPairs } from './set-pairs.ts'
import type { Transformer } from './transformer.ts'
import type { TransformerConfig } from './transformer-config.ts'

/** The field `labels`, whose entries say where else than to the metadata they go, and `commonLabels`. */
export const labels: Transformer = (resources, { kustomization, config, budget }) => {
  for (const entry of kustomization.labels) {
    setPairs(resources, entry.pairs, fieldsOf(entry, config, entry.origin), budget)
  }
  setPairs(resources, kustomization.commonLabels, config.commonLabels, budget)
}

/** What an entry itself says comes first, and hides later specs of the same path. */
function fieldsOf(entry: LabelEntry, config: TransformerConfig, origin: Origin): readonly FieldSpec[] {
  const configured = mergeFieldSpecs(entry.fields, config.labels, origin)
  if (entry.includeSelectors) return mergeFieldSpecs(configured, config.commonLabels, origin)
  const templates = entry.includeTemplates ? config.templateLabels : []
  return mergeFieldSpecs(mergeFieldSpecs(configured, templates, origin), [METADATA_LABELS], origin)
}
