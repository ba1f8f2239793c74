import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { type Field, isAbsent, type MapNode, type Node } from '../../kube/node.ts'
import type { BuildBudget } from '../build-budget.ts'
import type { Entry } from '../entry.ts'
import { editPlaces, type FieldSpec, specsByKind } from '../resource/field-spec.ts'
import { isBuildAnnotation } from '../resource/load-resources.ts'
import { currentId } from '../resource/resource.ts'
import type { ResourceList } from '../resource/resource-list.ts'
import { mergeFieldSpecs } from './configurations.ts'
import {
  booleanField,
  type FieldDocs,
  listField,
  readFieldSpecs,
  refuseOtherFields,
  structNode,
  type TransformingField,
  textPairs,
} from './field.ts'
import { METADATA_LABELS, type TransformerConfig } from './transformer-config.ts'

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
  built: 'wherever kustomize puts them, with `fields`, `includeSelectors` and `includeTemplates`',
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

/** What a pair costs at each place: a value and a field of their own. */
const PAIR_STEPS = 8

/** Labels or annotations. */
type Pairs = readonly (readonly [string, Entry])[]

/**
 * Puts labels or annotations into every map that a spec leads to (api/filters/labels and annotations, 5.8.1). Throws
 * `kustomize-invalid` where that is not a map.
 */
export function setPairs(
  resources: ResourceList,
  pairs: Pairs,
  specs: readonly FieldSpec[],
  budget: BuildBudget,
): void {
  const first = pairs[0]?.[1].origin
  if (!first) return
  for (const [key, { origin }] of pairs) if (isBuildAnnotation(key)) refuseBuildNote(key, origin)
  budget.spendOnEach(resources.all, first)
  const specsOf = specsByKind(specs)
  for (const resource of resources.all) {
    const writer = new PairWriter(pairs, first)
    const matching = specsOf(currentId(resource))
    budget.spend('steps', PAIR_STEPS * pairs.length * matching.length, first)
    const write = (node: Node | undefined, spec: FieldSpec) => {
      // the map is copied, which is what takes the time where there are many pairs in it
      if (node?.type === 'map') budget.spend('steps', node.fields.size, first)
      return writer.write(node, spec.path)
    }
    editPlaces(resource, matching, first, write, budget)
    resource.hasShared ||= writer.hasShared
  }
}

/** Writes the pairs to the places of one object. A value that is new at several of them is one value for kustomize. */
class PairWriter {
  private readonly pairs: Pairs
  private readonly origin: Origin
  private readonly added = new Map<string, object>()
  hasShared = false

  constructor(pairs: Pairs, origin: Origin) {
    this.pairs = pairs
    this.origin = origin
  }

  write(node: Node | undefined, path: string): Node {
    // a null that is not to be created stays
    if (node !== undefined && isAbsent(node)) return node
    const map: MapNode =
      node === undefined ? { type: 'map', fields: new Map(), origin: this.origin } : asMap(node, path)
    const fields = new Map<string, Field>(map.fields)
    for (const [key, { text, origin }] of this.pairs) {
      const value = { type: 'scalar', value: text, origin } as const
      fields.set(key, { key: origin, value: fields.has(key) ? value : { ...value, shared: this.share(key) } })
    }
    return { ...map, fields }
  }

  private share(key: string): object {
    const known = this.added.get(key)
    if (known) {
      this.hasShared = true
      return known
    }
    const shared = {}
    this.added.set(key, shared)
    return shared
  }
}

function asMap(node: Node, path: string): MapNode {
  if (node.type === 'map') return node
  throw new BailiwickError('kustomize-invalid', `${path}: not a map`, { origin: node.origin })
}

function refuseBuildNote(key: string, origin: Origin): never {
  throw new BailiwickError('kustomize-unsupported', `${key}: this key controls kustomize itself and is not supported`, {
    origin,
  })
}
