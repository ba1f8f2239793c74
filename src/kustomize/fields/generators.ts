import { at, isAbsent, itemsOf, type MapNode, type Node, type ScalarNode } from '../../kube/node.ts'
import type { Entry, GeneratorEntry, GeneratorOptions } from '../entry.ts'
import {
  asMap,
  booleanField,
  caseless,
  type FieldDocs,
  invalid,
  type KustomizationField,
  listField,
  mapField,
  refuseCaseVariant,
  refuseOtherFields,
  textField,
  textList,
  textPairs,
} from './field.ts'

/** An entry that is a path, or objects written out. */
export type ConfigEntry = Entry & { readonly node: ScalarNode }

const docs: FieldDocs = {
  built: "files, directories and objects of kustomize's builtins (`apiVersion: builtin`)",
  refused:
    'everything that is not a builtin (`kustomize-plugin`), paths outside of the repository; a field in other letters; the ' +
    'name of the root directory as a value',
}

/** Objects that configure builtins which make objects, or where such objects are. */
export const generators: KustomizationField<readonly ConfigEntry[]> = {
  goType: '[string',
  effect: 'brings',
  leftOut: { objects: 'also', reach: 'kustomization' },
  paths: itemsOf,
  holdsBuiltins: true,
  read: root => textList(root, 'generators'),
  docs,
}

/** The same for builtins that change objects, after all fields have. */
export const transformers: KustomizationField<readonly ConfigEntry[]> = {
  goType: '[string',
  effect: 'reads',
  leftOut: { reach: 'kustomization' },
  paths: itemsOf,
  holdsBuiltins: true,
  read: root => textList(root, 'transformers'),
  docs,
}

type Kind = GeneratorEntry['kind']

const OPTIONS = ['labels', 'annotations', 'disableNameSuffixHash', 'immutable']
const SOURCES = ['literals', 'files', 'envs', 'env']
const FIELDS = ['name', 'namespace', 'behavior', 'options', ...SOURCES]
const fieldsOf = (kind: Kind): readonly string[] => (kind === 'Secret' ? [...FIELDS, 'type'] : FIELDS)

const PATHS = {
  paths: (value: Node) =>
    itemsOf(value).flatMap(item => [
      ...itemsOf(caseless(item, 'files')),
      ...itemsOf(caseless(item, 'envs')),
      caseless(item, 'env'),
    ]),
}

const configMapDocs: FieldDocs = {
  built: 'every field: `literals`, `files`, `envs`, `env`, `type`, `options`, each `behavior`',
  refused:
    'control characters and unusual line breaks, lines of an env file over 65,000 bytes; a ' +
    'generated object whose kind a patch changes',
}

export const configMapGenerator: KustomizationField<readonly GeneratorEntry[]> = {
  goType: '[ConfigMap',
  effect: 'brings',
  leftOut: { objects: 'also' },
  ...PATHS,
  read: root => readGenerators(root, 'ConfigMap'),
  docs: configMapDocs,
}

export const secretGenerator: KustomizationField<readonly GeneratorEntry[]> = {
  goType: '[Secret',
  effect: 'brings',
  leftOut: { objects: 'also' },
  ...PATHS,
  read: root => readGenerators(root, 'Secret'),
  docs: configMapDocs,
}

/** What both generators merge into each of their entries; nothing without them. */
export const generatorOptions: KustomizationField<undefined> = {
  goType: '*Options',
  effect: 'itself',
  read: root => {
    globalOptions(root)
  },
  docs: { built: '`labels`, `annotations`, `disableNameSuffixHash`, `immutable`' },
}

const globalOptions = (root: MapNode) => readOptions(mapField(root, 'generatorOptions'), 'generatorOptions')

/**
 * The entries of a field with `generatorOptions` merged into each: what an entry sets itself wins, except that it
 * cannot take back a `true`. Throws as reading a kustomization does.
 */
function readGenerators(root: MapNode, kind: Kind): GeneratorEntry[] {
  const global = globalOptions(root)
  const field = kind === 'Secret' ? 'secretGenerator' : 'configMapGenerator'
  return listField(root, field).map(node => {
    const entry = asMap(node, `${field}[]`)
    refuseOtherFields(entry, fieldsOf(kind), field)
    return readEntry(entry, kind, textField(entry, 'env'), global)
  })
}

/**
 * A ConfigMapGenerator or SecretGenerator object of `generators`. kustomize reads it leniently: its name may stand in
 * its metadata, fields that it does not have are passed over, and so is `env`.
 */
export function readGeneratorObject(object: MapNode, kind: Kind): GeneratorEntry {
  const known = [...fieldsOf(kind), 'metadata']
  for (const [name, field] of object.fields) refuseCaseVariant(name, known, field.key)
  return readEntry(object, kind, undefined, readOptions(undefined, ''))
}

function readEntry(entry: MapNode, kind: Kind, env: Entry | undefined, global: GeneratorOptions): GeneratorEntry {
  const name = ownOrMetadata(entry, 'name')
  if (!name) return invalid(`${kind} generator: name is missing`, entry.origin)
  const namespace = ownOrMetadata(entry, 'namespace')
  const type = kind === 'Secret' ? textField(entry, 'type') : undefined
  const options = mapField(entry, 'options')
  return {
    kind,
    origin: entry.origin,
    name,
    ...(namespace ? { namespace } : {}),
    behavior: readBehavior(textField(entry, 'behavior')),
    literals: textList(entry, 'literals'),
    files: textList(entry, 'files'),
    envs: [...textList(entry, 'envs'), ...(env?.text ? [env] : [])],
    ...(type?.text ? { type } : {}),
    options: merge(readOptions(options, 'options'), global),
  }
}

function ownOrMetadata(entry: MapNode, field: string): Entry | undefined {
  const metadata = at(entry, ['metadata'])
  const own = textField(entry, field)
  const found = own?.text || metadata?.type !== 'map' ? own : textField(metadata, field)
  return found?.text ? found : undefined
}

function readBehavior(entry: Entry | undefined): GeneratorEntry['behavior'] {
  const text = entry?.text ?? ''
  return text === 'create' || text === 'merge' || text === 'replace' ? text : 'unspecified'
}

function readOptions(options: MapNode | undefined, where: string): GeneratorOptions {
  if (!options) return { labels: [], annotations: [], disableNameSuffixHash: false }
  refuseOtherFields(options, OPTIONS, where)
  const immutable: Node | undefined = options.fields.get('immutable')?.value
  const isImmutable = !isAbsent(immutable) && booleanField(options, 'immutable')
  return {
    labels: textPairs(options, 'labels'),
    annotations: textPairs(options, 'annotations'),
    disableNameSuffixHash: booleanField(options, 'disableNameSuffixHash'),
    ...(isImmutable ? { immutable: { text: 'true', origin: immutable.origin } } : {}),
  }
}

function merge(own: GeneratorOptions, global: GeneratorOptions): GeneratorOptions {
  const immutable = own.immutable ?? global.immutable
  return {
    labels: [...new Map([...global.labels, ...own.labels])],
    annotations: [...new Map([...global.annotations, ...own.annotations])],
    disableNameSuffixHash: own.disableNameSuffixHash || global.disableNameSuffixHash,
    ...(immutable ? { immutable } : {}),
  }
}
