import type { FieldSpec } from './field-spec.ts'
import { SELECTOR_LABELS, TEMPLATE_LABELS } from './label-fields.ts'

/**
 * Which fields each builtin transformer writes to: kustomize's defaults, and what `configurations` files add
 * (api/internal/plugins/builtinconfig/transformerconfig.go).
 */
export interface TransformerConfig {
  readonly labels: readonly FieldSpec[]
  readonly templateLabels: readonly FieldSpec[]
  readonly commonLabels: readonly FieldSpec[]
}

const METADATA_LABELS: FieldSpec = { path: 'metadata/labels', create: true }

/** What holds where no `configurations` say more. */
export const DEFAULT_CONFIG: TransformerConfig = {
  labels: [METADATA_LABELS],
  templateLabels: TEMPLATE_LABELS,
  commonLabels: [...SELECTOR_LABELS, ...TEMPLATE_LABELS, METADATA_LABELS],
}
