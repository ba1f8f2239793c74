import type { Origin } from '../../origin.ts'
import type { FieldSpec } from '../model/field-spec.ts'
import { METADATA_LABELS } from './default-fields.ts'
import type { FieldDocs, TransformingField } from './field.ts'
import { mergeFieldSpecs } from './merge-field-specs.ts'
import { readFieldSpecs } from './read-field-specs.ts'
import { booleanField, listField, refuseOtherFields, structNode, textPairs } from './read-fields.ts'
import { type Pairs, setPairs } from './set-pairs.ts'
import type { TransformerConfig } from './transformer-config.ts'

/** One entry of `labels`. */
export interface LabelEntry {
  readonly origin: Origin
  readonly pairs: Pairs
  readonly includeSelectors: boolean
  readonly includeTemplates: boolean
  /** Where else they go. */
  readonly fields: readonly FieldSpec[]
}

const docs: FieldDocs = {
  built:
    'wherever kustomize puts them, with `fields`, `includeSelectors` and `includeTemplates`; a label that was added in several ' +
    'places of an object stays one value there',
  refused: 'keys that are booleans in YAML 1.1, or control kustomize',
}

/** Labels whose entries say where else than to the metadata they go. */
export const labels: TransformingField<readonly LabelEntry[]> = {
  goType: '[Label',
  effect: 'changes',
  toEach: true,
  read: root =>
    listField(root, 'labels').map(node => {
      const entry = structNode(node, 'labels[]')
      refuseOtherFields(entry, ['pairs', 'includeSelectors', 'includeTemplates', 'fields'], 'labels')
      return {
        origin: entry.origin,
        pairs: textPairs(entry, 'pairs'),
        includeSelectors: booleanField(entry, 'includeSelectors'),
        includeTemplates: booleanField(entry, 'includeTemplates'),
        fields: readFieldSpecs(entry, 'fields', true),
      }
    }),
  apply: (resources, entries, { config, budget }) => {
    for (const entry of entries) setPairs(resources, entry.pairs, fieldsOf(entry, config, entry.origin), budget)
  },
  docs,
}

/** Labels that go to selectors, too. kustomize runs their transformer for nothing where there are only `labels`. */
export const commonLabels: TransformingField<Pairs> = {
  goType: '{string',
  effect: 'changes',
  toEach: true,
  isOneEntry: true,
  read: root => textPairs(root, 'commonLabels'),
  apply: (resources, pairs, { config, budget }) => setPairs(resources, pairs, config.commonLabels, budget),
  docs,
}

/** What an entry itself says comes first, and hides later specs of the same path. */
function fieldsOf(entry: LabelEntry, config: TransformerConfig, origin: Origin): readonly FieldSpec[] {
  const configured = mergeFieldSpecs(entry.fields, config.labels, origin)
  if (entry.includeSelectors) return mergeFieldSpecs(configured, config.commonLabels, origin)
  const templates = entry.includeTemplates ? config.templateLabels : []
  return mergeFieldSpecs(mergeFieldSpecs(configured, templates, origin), [METADATA_LABELS], origin)
}
