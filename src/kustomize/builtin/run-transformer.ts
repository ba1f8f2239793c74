import { BailiwickError } from '../../errors.ts'
import { isAbsent } from '../../kube/edit-node.ts'
import { at, type MapNode, stringAt } from '../../kube/node.ts'
import type { Origin } from '../../origin.ts'
import type { TransformContext } from '../fields/field.ts'
import { readImage } from '../fields/images.ts'
import { affixNames } from '../fields/name-affixes.ts'
import { patches, readPatch } from '../fields/patches.ts'
import { type JsonPatchEntry, patchesJson6902, readJsonPatchEntry } from '../fields/patches-json6902.ts'
import { patchesStrategicMerge } from '../fields/patches-strategic-merge.ts'
import { readFieldSpecs } from '../fields/read-field-specs.ts'
import { booleanField, invalid, mapField, structNode, textField, textList, textPairs } from '../fields/read-fields.ts'
import { replacements } from '../fields/replacements.ts'
import { readReplica, setReplicas } from '../fields/replicas.ts'
import { setImages } from '../fields/set-images.ts'
import { type NamespaceOptions, setNamespace } from '../fields/set-namespace.ts'
import { setPairs } from '../fields/set-pairs.ts'
import { appendHash } from '../generate/hash-name.ts'
import type { ResourceList } from '../resource/resource-list.ts'
import { shaped } from './config-shape.ts'
import { TRANSFORMER_SHAPES, type TransformerKind } from './config-shapes.ts'

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
 * What a PatchJson6902Transformer says, as an entry of `patchesJson6902`: its text is called `jsonOp`. Throws as reading
 * such an entry does, and `kustomize-unsupported` without a target, where kustomize panics.
 */
function jsonPatchOf(config: MapNode): JsonPatchEntry {
  if (at(config, ['target'])?.type !== 'map') {
    const message = 'PatchJson6902Transformer: target is missing'
    throw new BailiwickError('kustomize-unsupported', message, { origin: config.origin })
  }
  const fields = [...config.fields].map(([name, field]) => [name === 'jsonOp' ? 'patch' : name, field] as const)
  return readJsonPatchEntry({ ...config, fields: new Map(fields) }, config.origin.file)
}
