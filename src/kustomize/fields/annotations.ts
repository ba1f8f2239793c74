import type { TransformingField } from './field.ts'
import { textPairs } from './read-fields.ts'
import { type Pairs, setPairs } from './set-pairs.ts'

/** Annotations of the objects and of their templates. */
export const commonAnnotations: TransformingField<Pairs> = {
  goType: '{string',
  effect: 'changes',
  toEach: true,
  isOneEntry: true,
  read: root => textPairs(root, 'commonAnnotations'),
  apply: (resources, pairs, { config, budget }) => setPairs(resources, pairs, config.commonAnnotations, budget),
  docs: {
    built: 'wherever kustomize puts them',
    refused: 'keys that are booleans in YAML 1.1; annotations that control kustomize',
  },
}
