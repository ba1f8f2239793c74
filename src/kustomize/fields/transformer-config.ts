import type { FieldSpec } from '../model/field-spec.ts'
import { REFERENCE_RULES, type ReferenceRule } from '../references/reference-fields.ts'
import {
  ANNOTATION_FIELDS,
  IMAGE_FIELDS,
  METADATA_LABELS,
  NAME_FIELDS,
  NAMESPACE_FIELDS,
  REPLICA_FIELDS,
  SELECTOR_LABELS,
  TEMPLATE_LABELS,
} from './default-fields.ts'

/**
 * Which fields each builtin transformer writes to: kustomize's defaults, and what `configurations` files add
 * (api/internal/plugins/builtinconfig/transformerconfig.go).
 */
export interface TransformerConfig {
  readonly namePrefix: readonly FieldSpec[]
  readonly nameSuffix: readonly FieldSpec[]
  readonly namespace: readonly FieldSpec[]
  readonly commonLabels: readonly FieldSpec[]
  /** What `configurations` add for the field `labels`; the labels of the metadata are not among them. */
  readonly labels: readonly FieldSpec[]
  readonly templateLabels: readonly FieldSpec[]
  readonly commonAnnotations: readonly FieldSpec[]
  readonly nameReference: readonly ReferenceRule[]
  readonly images: readonly FieldSpec[]
  readonly replicas: readonly FieldSpec[]
}

/** The lists of field specs in it. */
export const FIELD_LISTS = [
  'namePrefix',
  'nameSuffix',
  'namespace',
  'commonLabels',
  'labels',
  'templateLabels',
  'commonAnnotations',
  'images',
  'replicas',
] as const

export const EMPTY_CONFIG: TransformerConfig = {
  namePrefix: [],
  nameSuffix: [],
  namespace: [],
  commonLabels: [],
  labels: [],
  templateLabels: [],
  commonAnnotations: [],
  nameReference: [],
  images: [],
  replicas: [],
}

/** What holds where no `configurations` say more. */
export const DEFAULT_CONFIG: TransformerConfig = {
  namePrefix: NAME_FIELDS,
  nameSuffix: NAME_FIELDS,
  namespace: NAMESPACE_FIELDS,
  commonLabels: [...SELECTOR_LABELS, METADATA_LABELS, ...TEMPLATE_LABELS],
  labels: [],
  templateLabels: [METADATA_LABELS, ...TEMPLATE_LABELS],
  commonAnnotations: ANNOTATION_FIELDS,
  nameReference: REFERENCE_RULES,
  images: IMAGE_FIELDS,
  replicas: REPLICA_FIELDS,
}
