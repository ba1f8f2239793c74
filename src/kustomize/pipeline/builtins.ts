import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { at, type Field, isAbsent, type MapNode, type Node, type ScalarNode, stringAt } from '../../kube/node.ts'
import {
  booleanField,
  invalid,
  mapField,
  readFieldSpecs,
  refuseCaseVariant,
  structNode,
  type TransformContext,
  textField,
  textList,
  textPairs,
} from '../fields/field.ts'
import { readGeneratorObject } from '../fields/generators.ts'
import { readImage, setImages } from '../fields/images.ts'
import { setPairs } from '../fields/labels.ts'
import { affixNames, type NamespaceOptions, setNamespace } from '../fields/names.ts'
import {
  type JsonPatchEntry,
  patches,
  patchesJson6902,
  patchesStrategicMerge,
  readJsonPatchEntry,
  readPatch,
} from '../fields/patches.ts'
import { replacements } from '../fields/replacements.ts'
import { readReplica, setReplicas } from '../fields/replicas.ts'
import type { Resource } from '../resource/resource.ts'
import type { ResourceList } from '../resource/resource-list.ts'
import { appendHash, type GeneratorContext, generateObject } from './generate-object.ts'

type Run = (config: MapNode, resources: ResourceList, context: TransformContext) => void

/**
 * Runs the builtin that an object of `transformers` configures. Throws `kustomize-invalid` for a kind that there is not,
 * `kustomize-unsupported` for ValueAddTransformer, and what the builtin throws.
 */
export function runTransformer(object: MapNode, resources: ResourceList, context: TransformContext): void {
  const kind = stringAt(object, ['kind']) ?? ''
  if (kind === 'ValueAddTransformer')
    refuse(`${kind}: not supported`, object.origin, 'Use `replacements` with `sourceValue`, or `patches`.')
  if (!Object.hasOwn(TRANSFORMER_SHAPES, kind))
    invalid(`${kind}: not a builtin transformer of kustomize`, object.origin)
  const known = kind as TransformerKind
  context.budget.spendOnEach(resources.all, object.origin)
  context.budget.spendOn(object, object.origin)
  RUN[known](shaped(object, { fields: TRANSFORMER_SHAPES[known] }) as MapNode, resources, context)
}

const RUN: Readonly<Record<TransformerKind, Run>> = {
  AnnotationsTransformer: (config, resources, { budget }) => {
    setPairs(resources, textPairs(config, 'annotations'), fieldSpecs(config), budget)
  },
  HashTransformer: (_, resources) => {
    for (const resource of resources.all) if (resource.needsHash) appendHash(resource)
  },
  ImageTagTransformer: (config, resources, { budget }) => {
    setImages(resources, [readImage(part(config, 'imageTag'))], fieldSpecs(config), budget)
  },
  LabelTransformer: (config, resources, { budget }) => {
    setPairs(resources, textPairs(config, 'labels'), fieldSpecs(config), budget)
  },
  NamespaceTransformer: (config, resources) => {
    const metadata = mapField(config, 'metadata')
    const namespace = metadata && textField(metadata, 'namespace')
    const options = namespaceOptions(config)
    if (namespace?.text) setNamespace(resources, namespace, fieldSpecs(config, false), options)
  },
  PatchJson6902Transformer: (config, resources, context) => {
    patchesJson6902.apply(resources, [jsonPatchOf(config)], context)
  },
  PatchStrategicMergeTransformer: (config, resources, context) => {
    const text = textField(config, 'patches')?.text ? textList(asList(config, 'patches'), 'patches') : []
    const entries = [...textList(config, 'paths'), ...text]
    if (entries.length === 0) invalid('PatchStrategicMergeTransformer: the patch is missing', config.origin)
    patchesStrategicMerge.apply(resources, entries, { ...context, writtenIn: config.origin.file })
  },
  PatchTransformer: (config, resources, context) => {
    patches.apply(resources, [readPatch(config, config.origin.file)], context)
  },
  PrefixSuffixTransformer: (config, resources) => {
    affix(config, resources, 'prefixes')
    affix(config, resources, 'suffixes')
  },
  PrefixTransformer: (config, resources) => affix(config, resources, 'prefixes'),
  ReplacementTransformer: (config, resources, context) => {
    replacements.apply(resources, replacements.read(config, config.origin.file), context)
  },
  ReplicaCountTransformer: (config, resources, { budget }) => {
    setReplicas(resources, readReplica(part(config, 'replica')), fieldSpecs(config), budget)
  },
  SuffixTransformer: (config, resources) => affix(config, resources, 'suffixes'),
}

const fieldSpecs = (config: MapNode, knowsNotes = true) => readFieldSpecs(config, 'fieldSpecs', knowsNotes)

function part(config: MapNode, name: string): MapNode {
  const node = config.fields.get(name)?.value
  return isAbsent(node) ? { type: 'map', fields: new Map(), origin: config.origin } : structNode(node, name)
}

function asList(config: MapNode, name: string): MapNode {
  const field = config.fields.get(name)!
  const list = { type: 'list', items: [field.value], origin: field.value.origin } as const
  return { ...config, fields: new Map([[name, { ...field, value: list }]]) }
}

function affix(config: MapNode, resources: ResourceList, side: 'prefixes' | 'suffixes'): void {
  if (isAbsent(config.fields.get('fieldSpecs')?.value))
    invalid('PrefixTransformer or SuffixTransformer: fieldSpecs are missing', config.origin)
  const text = textField(config, side === 'prefixes' ? 'prefix' : 'suffix')
  const specs = fieldSpecs(config, false)
  if (text?.text) affixNames(resources, text, side, specs)
  else if (specs.some(spec => spec.create))
    refuse('PrefixTransformer or SuffixTransformer: an empty value with create: true is not supported', config.origin)
}

function refuse(what: string, origin: Origin, fix?: string): never {
  throw new BailiwickError('kustomize-unsupported', what, { origin, ...(fix ? { fix } : {}) })
}

const SUBJECTS = ['defaultOnly', 'allServiceAccounts', 'none'] as const

function namespaceOptions(config: MapNode): NamespaceOptions {
  const mode = textField(config, 'setRoleBindingSubjects')
  const subjects = mode?.text ? SUBJECTS.find(known => known === mode.text) : 'defaultOnly'
  if (!subjects) return invalid(`setRoleBindingSubjects: unknown value. Allowed: ${SUBJECTS.join(', ')}`, mode!.origin)
  return { unsetOnly: booleanField(config, 'unsetOnly'), subjects }
}

/**
 * A PatchJson6902Transformer as an entry of `patchesJson6902`: its text is called `jsonOp`. Throws as reading such an
 * entry does, and `kustomize-unsupported` without a target, where kustomize panics.
 */
function jsonPatchOf(config: MapNode): JsonPatchEntry {
  if (at(config, ['target'])?.type !== 'map') {
    const message = 'PatchJson6902Transformer: target is missing'
    throw new BailiwickError('kustomize-unsupported', message, { origin: config.origin })
  }
  const fields = [...config.fields].map(([name, field]) => [name === 'jsonOp' ? 'patch' : name, field] as const)
  return readJsonPatchEntry({ ...config, fields: new Map(fields) }, config.origin.file)
}

/**
 * What the builtin generates that an object of `generators` configures. Throws `kustomize-invalid` for a kind that there
 * is not, `kustomize-unsupported` for IAMPolicyGenerator, and what the generator throws.
 */
export function runGenerator(object: MapNode, context: GeneratorContext): Resource {
  const kind = stringAt(object, ['kind']) ?? ''
  const file = object.origin.file
  if (kind === 'ConfigMapGenerator' || kind === 'SecretGenerator') {
    const made = kind === 'SecretGenerator' ? 'Secret' : 'ConfigMap'
    return generateObject(readGeneratorObject(shaped(object, 'any') as MapNode, made), { ...context, file })
  }
  if (kind === 'IAMPolicyGenerator') {
    const fix = 'Write the ServiceAccount itself, with the annotation `iam.gke.io/gcp-service-account`.'
    throw new BailiwickError('kustomize-unsupported', `${kind}: not supported`, { origin: object.origin, fix })
  }
  return invalid(`${kind}: not a builtin generator of kustomize`, object.origin)
}

const fieldSpecsShape: ConfigShape = {
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
const TRANSFORMER_SHAPES = {
  AnnotationsTransformer: { annotations: TEXTS, fieldSpecs: fieldSpecsShape },
  HashTransformer: {},
  ImageTagTransformer: { imageTag: { fields: image }, fieldSpecs: fieldSpecsShape },
  LabelTransformer: { labels: TEXTS, fieldSpecs: fieldSpecsShape },
  NamespaceTransformer: {
    metadata: { fields: { namespace: 'loose' } },
    unsetOnly: 'any',
    setRoleBindingSubjects: 'loose',
    fieldSpecs: fieldSpecsShape,
  },
  PatchJson6902Transformer: { target: SELECTOR, path: 'loose', jsonOp: 'loose' },
  PatchStrategicMergeTransformer: { paths: { list: 'loose' }, patches: 'loose' },
  PatchTransformer: { path: 'loose', patch: 'loose', target: SELECTOR, options: 'any' },
  PrefixSuffixTransformer: { prefix: 'loose', suffix: 'loose', fieldSpecs: fieldSpecsShape },
  PrefixTransformer: { prefix: 'loose', fieldSpecs: fieldSpecsShape },
  ReplacementTransformer: { replacements: 'any' },
  ReplicaCountTransformer: { replica: { fields: { name: 'loose', count: 'any' } }, fieldSpecs: fieldSpecsShape },
  SuffixTransformer: { suffix: 'loose', fieldSpecs: fieldSpecsShape },
} as const satisfies Record<string, Readonly<Record<string, ConfigShape>>>

type TransformerKind = keyof typeof TRANSFORMER_SHAPES

/**
 * What a part of the config of a builtin decodes into. `string`: a text; `loose`: a text, into which numbers and booleans
 * are turned (sigs.k8s.io/yaml does so for strings that are not in an embedded struct); `any`: taken as it is, its texts
 * being texts for YAML 1.1, too.
 */
type ConfigShape =
  | 'string'
  | 'loose'
  | 'any'
  | { readonly list: ConfigShape }
  | { readonly pairs: ConfigShape }
  | { readonly fields: Readonly<Record<string, ConfigShape>> }

/**
 * `node` as its struct sees it: fields that it does not have are gone, as kustomize passes over them. Throws rule
 * `kustomize-case-variant-key` for a field in another spelling.
 */
function shaped(node: Node, shape: ConfigShape): Node {
  if (isAbsent(node)) return node
  if (shape === 'string' || shape === 'loose') return node.type === 'scalar' ? text(node, shape) : node
  if (shape === 'any') return withTexts(node)
  if (node.type === 'list') {
    const items = 'list' in shape ? node.items.map(item => shaped(item, shape.list)) : node.items
    return { ...node, items }
  }
  if (node.type !== 'map' || 'list' in shape) return node
  return 'pairs' in shape ? pairs(node, shape.pairs) : struct(node, shape.fields)
}

function pairs(map: MapNode, shape: ConfigShape): MapNode {
  const fields = new Map<string, Field>()
  for (const [key, field] of map.fields) fields.set(key, { ...field, value: shaped(field.value, shape) })
  return { ...map, fields }
}

function struct(map: MapNode, shapes: Readonly<Record<string, ConfigShape>>): MapNode {
  const known = Object.keys(shapes)
  const fields = new Map<string, Field>()
  for (const [key, field] of map.fields) {
    if (known.includes(key)) fields.set(key, { ...field, value: shaped(field.value, shapes[key]!) })
    else refuseCaseVariant(key, known, field.key)
  }
  return { ...map, fields }
}

function text(node: ScalarNode, shape: 'string' | 'loose'): ScalarNode {
  if (typeof node.value === 'string') return quoted(node)
  if (shape === 'string') return node
  const value = String(node.value)
  const isExact = typeof node.value !== 'number' || Number.isInteger(node.value) || isShortDecimal(value)
  if (isExact) return { type: 'scalar', value, origin: node.origin, quoted: true }
  const message = 'a number in a string field, which kustomize would round'
  throw new BailiwickError('kustomize-unsupported', message, { origin: node.origin, fix: 'Quote the number.' })
}

/** The same in single precision and for Go and us. */
function isShortDecimal(value: string): boolean {
  return /^-?\d{1,6}\.\d+$/.test(value) && value.replace(/\D/g, '').length <= 6 && !/^-?0\.0000/.test(value)
}

/** Resources are read with other rules than kustomizations: what is a text there stays one. */
function quoted(node: ScalarNode): ScalarNode {
  if (node.style) return node
  const { text: _, ...rest } = node
  return { ...rest, quoted: true }
}

function withTexts(node: Node): Node {
  if (node.type === 'list') return { ...node, items: node.items.map(withTexts) }
  if (node.type === 'map') return pairs(node, 'any')
  return typeof node.value === 'string' ? quoted(node) : node
}
