import type { Rule } from '../model/rule.ts'

/** No field stands in two spellings. The renderer raises it. */
export const kustomizeCaseVariantKey: Rule = {
  id: 'kustomize-case-variant-key',
  severity: 'high',
  title: 'Fields of a kustomization have one spelling',
  why: `Two spellings of one field (namespace and Namespace) let implementations disagree about which one counts.`,
  docs: `Keep the field with its documented spelling.`,
}
