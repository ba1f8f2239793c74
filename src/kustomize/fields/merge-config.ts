import type { Origin } from '../../origin.ts'
import type { FieldSpec } from '../model/field-spec.ts'
import type { ReferenceRule } from '../references/reference-fields.ts'
import { compareKinds } from '../resource/kind-order.ts'
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
  const lists = FIELD_LISTS.map(name => {
    const merged = mergeFieldSpecs(base[name], more[name], origin)
    return [name, merged.length === base[name].length ? base[name] : sortedSpecs(merged)] as const
  })
  const nameReference = mergeRules(base.nameReference, more.nameReference, origin)
  return { ...base, ...Object.fromEntries(lists), nameReference: [...nameReference].sort(compareKinds) }
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

function mergeRules(
  rules: readonly ReferenceRule[],
  more: readonly ReferenceRule[],
  origin: Origin,
): readonly ReferenceRule[] {
  const merged = new Map(rules.map(rule => [kindOf(rule), rule]))
  for (const rule of more) {
    const key = kindOf(rule)
    const known = merged.get(key)
    const referrers = known ? mergeFieldSpecs(known.referrers, rule.referrers, origin) : rule.referrers
    merged.set(key, known ? { ...known, referrers } : rule)
  }
  return [...merged.values()]
}

const kindOf = ({ group, version, kind }: ReferenceRule): string => `${group ?? ''}\0${version ?? ''}\0${kind ?? ''}`
