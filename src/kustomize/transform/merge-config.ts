import type { Origin } from '../../kube/origin.ts'
import type { ReferenceRule } from '../references/reference-fields.ts'
import { compareKinds } from '../resource/kind-order.ts'
import type { FieldSpec } from './field-spec.ts'
import { mergeFieldSpecs } from './merge-field-specs.ts'
import { DEFAULT_CONFIG, EMPTY_CONFIG, FIELD_LISTS, type TransformerConfig } from './transformer-config.ts'

/** The defaults as they are in every build that adds nothing to them. */
export const SORTED_DEFAULTS = sorted(DEFAULT_CONFIG)

/**
 * `config` with what `more` adds (`Merge` of transformerconfig.go). Merging drops what is covered already, so that a
 * spec for one kind can take the place of the default for all kinds: kustomize merges with the same effect. Throws
 * `kustomize-invalid` where the two disagree on whether a field is to be created.
 */
export function mergeConfig(
  config: TransformerConfig | undefined,
  more: TransformerConfig,
  origin: Origin,
): TransformerConfig {
  const isDefault = config === undefined || config === SORTED_DEFAULTS
  if (isDefault && more === SORTED_DEFAULTS) return SORTED_DEFAULTS
  const base = config ?? EMPTY_CONFIG
  const lists = FIELD_LISTS.map(name => [name, mergeFieldSpecs(base[name], more[name], origin)] as const)
  const nameReference = more.nameReference.reduce<readonly ReferenceRule[]>(
    (rules, rule) => mergeRule(rules, rule, origin),
    base.nameReference,
  )
  return sorted({ ...base, ...Object.fromEntries(lists), nameReference })
}

/** A configuration as a file says it, with its lists in kustomize's order. */
export function sorted(config: TransformerConfig): TransformerConfig {
  const lists = FIELD_LISTS.map(name => [name, sortedSpecs(config[name])] as const)
  const nameReference = [...config.nameReference].sort(compareKinds)
  return { ...config, ...Object.fromEntries(lists), nameReference }
}

function sortedSpecs(specs: readonly FieldSpec[]): readonly FieldSpec[] {
  return [...specs].sort(compareKinds)
}

function mergeRule(rules: readonly ReferenceRule[], more: ReferenceRule, origin: Origin): readonly ReferenceRule[] {
  let isKnown = false
  const result = rules.map(rule => {
    if (!isSameKind(rule, more)) return rule
    isKnown = true
    return { ...rule, referrers: mergeFieldSpecs(rule.referrers, more.referrers, origin) }
  })
  return isKnown ? result : [...rules, more]
}

function isSameKind(a: ReferenceRule, b: ReferenceRule): boolean {
  return (['group', 'version', 'kind'] as const).every(part => (a[part] ?? '') === (b[part] ?? ''))
}
