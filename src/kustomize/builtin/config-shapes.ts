import type { ConfigShape } from './config-shape.ts'

const fieldSpecs: ConfigShape = {
  list: { fields: { group: 'string', version: 'string', kind: 'string', path: 'loose', create: 'any' } },
}

const SELECTOR: ConfigShape = {
  fields: {
    group: 'string',
    version: 'string',
    kind: 'string',
    name: 'string',
    namespace: 'string',
    annotationSelector: 'loose',
    labelSelector: 'loose',
  },
}

const TEXTS: ConfigShape = { pairs: 'loose' }
const image = { name: 'loose', newName: 'loose', tagSuffix: 'loose', newTag: 'loose', digest: 'loose' } as const

/** What the struct of each builtin transformer decodes from its object (api/internal/builtins, 5.8.1). */
export const TRANSFORMER_SHAPES = {
  AnnotationsTransformer: { annotations: TEXTS, fieldSpecs },
  HashTransformer: {},
  ImageTagTransformer: { imageTag: { fields: image }, fieldSpecs },
  LabelTransformer: { labels: TEXTS, fieldSpecs },
  NamespaceTransformer: {
    metadata: { fields: { namespace: 'loose' } },
    unsetOnly: 'any',
    setRoleBindingSubjects: 'loose',
    fieldSpecs,
  },
  PatchJson6902Transformer: { target: SELECTOR, path: 'loose', jsonOp: 'loose' },
  PatchStrategicMergeTransformer: { paths: { list: 'loose' }, patches: 'loose' },
  PatchTransformer: { path: 'loose', patch: 'loose', target: SELECTOR, options: 'any' },
  PrefixSuffixTransformer: { prefix: 'loose', suffix: 'loose', fieldSpecs },
  PrefixTransformer: { prefix: 'loose', fieldSpecs },
  ReplacementTransformer: { replacements: 'any' },
  ReplicaCountTransformer: { replica: { fields: { name: 'loose', count: 'any' } }, fieldSpecs },
  SuffixTransformer: { suffix: 'loose', fieldSpecs },
} as const satisfies Record<string, Readonly<Record<string, ConfigShape>>>

export type TransformerKind = keyof typeof TRANSFORMER_SHAPES
