import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { itemsOf, type MapNode, type Node } from '../../kube/node.ts'
import type { Entry } from '../entry.ts'
import type { FieldSpec } from '../resource/field-spec.ts'
import { compareKinds } from '../resource/resource-list.ts'
import {
  asMap,
  isTextInOldYaml,
  type KustomizationField,
  listField,
  readFieldSpecs,
  refuseOtherFields,
  structNode,
  textField,
  textList,
} from './field.ts'
import {
  DEFAULT_CONFIG,
  EMPTY_CONFIG,
  FIELD_LISTS,
  type ReferenceRule,
  type TransformerConfig,
} from './transformer-config.ts'

/** Files that add to the fields which transformers write to. */
export const configurations: KustomizationField<readonly Entry[]> = {
  goType: '[string',
  effect: 'changes',
  leftOut: { reach: 'build' },
  paths: itemsOf,
  read: root => textList(root, 'configurations'),
  docs: {
    built: 'every list of field specs; bases and components pass them on to the kustomizations that use them',
    refused:
      "more than one document; numbers instead of strings; `varReference` with `create`; specs that select kustomize's internal annotations",
  },
}

const FIELDS = [...FIELD_LISTS, 'nameReference', 'varReference']

/**
 * Reads a file of `configurations`: what it adds to the fields that transformers write to. Throws `kustomize-invalid`
 * for what kustomize cannot read, `kustomize-unsupported` for what it reads and we do not.
 */
export function readConfiguration(documents: readonly Node[]): TransformerConfig {
  const [root, second] = documents
  if (second) unsupported('more than one document in a file of configurations', second)
  if (!root || (root.type === 'scalar' && root.value === null)) return EMPTY_CONFIG
  const map = asMap(root, 'configurations')
  refuseOtherFields(map, FIELDS, 'a file of configurations')
  for (const name of FIELDS) for (const item of listField(map, name)) requireText(item)
  // without vars these fields have no effect; one that kustomize knows already may not be created
  for (const spec of readFieldSpecs(map, 'varReference', true)) {
    if (spec.create) unsupported('a varReference with create', map.fields.get('varReference')!.value)
  }
  const lists = FIELD_LISTS.map(name => [name, readFieldSpecs(map, name)] as const)
  const nameReference = listField(map, 'nameReference').map(readRule)
  return { ...EMPTY_CONFIG, ...Object.fromEntries(lists), nameReference }
}

/** Here, unlike in its own file, kustomize makes text of numbers and booleans, with the digits that it likes. */
function requireText(item: Node): void {
  if (item.type !== 'map') return
  for (const part of ['group', 'version', 'kind', 'path']) {
    const node = item.fields.get(part)?.value
    if (node?.type !== 'scalar' || node.value === null || isTextInOldYaml(node)) continue
    unsupported(`a ${part} that is not a string in a file of configurations`, node)
  }
  const specs = item.fields.get('fieldSpecs')?.value
  if (specs?.type === 'list') specs.items.forEach(requireText)
}

function readRule(node: Node): ReferenceRule {
  const entry: MapNode = structNode(node, 'nameReference[]')
  refuseOtherFields(entry, ['group', 'version', 'kind', 'fieldSpecs'], 'nameReference')
  const [group, version, kind] = (['group', 'version', 'kind'] as const).map(part => textField(entry, part)?.text)
  return {
    ...(group ? { group } : {}),
    ...(version ? { version } : {}),
    ...(kind ? { kind } : {}),
    referrers: readFieldSpecs(entry, 'fieldSpecs'),
  }
}

function unsupported(message: string, node: Node): never {
  throw new BailiwickError('kustomize-unsupported', `${message} is not supported`, { origin: node.origin })
}

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

/** A configuration of a file, with its lists in kustomize's order. */
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

/**
 * `specs` and those of `more` that are not covered by them. A spec without a kind counts as covered by one of the same
 * path for any kind, as in kustomize (api/types/fieldspec.go). Throws `kustomize-invalid` where the two disagree on
 * whether the field is to be created.
 */
export function mergeFieldSpecs(
  specs: readonly FieldSpec[],
  more: readonly FieldSpec[],
  origin: Origin,
): readonly FieldSpec[] {
  const known = new Map<string, FieldSpec>()
  const result: FieldSpec[] = []
  const add = (spec: FieldSpec): void => {
    result.push(spec)
    for (const key of coveredKeys(spec)) if (!known.has(key)) known.set(key, spec)
  }
  specs.forEach(add)
  for (const spec of more) {
    const other = known.get(keyOf(spec.path, spec.group, spec.version, spec.kind))
    if (!other) add(spec)
    else if ((other.create ?? false) !== (spec.create ?? false)) {
      const message = `${spec.path}: two field specs set create differently`
      throw new BailiwickError('kustomize-invalid', message, { origin })
    }
  }
  return result
}

/** The specs that this one covers, itself first: those of the same path that say the same or less of the kind. */
function coveredKeys({ path, group, version, kind }: FieldSpec): readonly string[] {
  const keys = new Set<string>()
  for (const g of [group, undefined]) {
    for (const v of [version, undefined]) for (const k of [kind, undefined]) keys.add(keyOf(path, g, v, k))
  }
  return [...keys]
}

const keyOf = (path: string, group = '', version = '', kind = ''): string => `${path}\0${group}\0${version}\0${kind}`
