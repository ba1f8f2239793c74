import type { Rule } from '../model/rule.ts'

/** No field stands in two spellings. The renderer raises it. */
export const kustomizeCaseVariantKey: Rule = {
  id: 'kustomize-case-variant-key',
  severity: 'high',
  title: 'Kustomization field in another case',
  why: 'Implementations disagree about which of two spellings of one field (`namespace` and `Namespace`) applies.',
  docs: 'Keep the field with its documented spelling.',
}
