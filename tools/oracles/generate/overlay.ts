import fc from 'fast-check'
import { Chance } from './chance.ts'
import * as changes from './changes.ts'
import { configGenerator, generatorOptions } from './config-generators.ts'
import { object } from './objects.ts'
import { exactTarget, image, jsonPatch, scaledName, strategicPatch, target } from './patch.ts'
import { configuration, fieldSpecs, generatorConfig, transformerConfig } from './plugin.ts'
import { replacement } from './replacement.ts'
import { type Fields, isFields, type Value } from './value.ts'
import { NAMESPACES, textPairs } from './vocabulary.ts'
import { YamlText } from './yaml-text.ts'

export type Files = Map<string, string>

/** A generated input: files by path, and the directory that is built. */
interface Overlay {
  readonly files: Readonly<Record<string, string>>
  readonly target: string
  /** What stands in the files, before anything transforms it. */
  readonly objects: readonly Fields[]
}

export interface Layer {
  readonly directory: string
  readonly files: Files
  /** Everything that may stand below, for patches and replacements to aim at. */
  readonly objects: Fields[]
  readonly chance: Chance
  readonly yaml: YamlText
}

type Feature = (layer: Layer) => Fields

/** Every field that an overlay may have, one function each. */
const FEATURES: Readonly<Record<string, Feature>> = {
  namespace: ({ chance }) => ({ namespace: chance.pick(NAMESPACES) }),
  namePrefix: ({ chance }) => ({ namePrefix: chance.pick(['dev-', 'p']) }),
  nameSuffix: ({ chance }) => ({ nameSuffix: chance.pick(['-x', '-1']) }),
  labels: ({ chance }) => ({
    labels: chance.list(1, 2, () => ({
      pairs: textPairs(chance),
      ...chance.maybe(35, 'includeSelectors', () => true),
      ...chance.maybe(35, 'includeTemplates', () => true),
      ...chance.maybe(15, 'fields', () => fieldSpecs(chance)),
    })),
  }),
  commonLabels: ({ chance }) => ({ commonLabels: textPairs(chance) }),
  commonAnnotations: ({ chance }) => ({ commonAnnotations: textPairs(chance) }),
  images: ({ chance }) => ({ images: chance.list(1, 2, () => image(chance)) }),
  replicas: ({ objects, chance }) => ({
    replicas: chance.list(1, 2, () => ({ name: scaledName(objects, chance), count: chance.upTo(5) })),
  }),
  strategicPatches: layer => ({ patches: layer.chance.list(1, 2, index => strategicEntry(layer, index)) }),
  jsonPatches: layer => ({ patches: layer.chance.list(1, 2, index => jsonEntry(layer, index)) }),
  patchesStrategicMerge: layer => ({
    patchesStrategicMerge: layer.chance.list(1, 2, index => strategicText(layer, `psm-${index}`)),
  }),
  patchesJson6902: layer => ({ patchesJson6902: layer.chance.list(1, 2, index => jsonEntry(layer, index, true)) }),
  configMapGenerator: ({ directory, files, chance }) => ({
    configMapGenerator: chance.list(1, 2, () => configGenerator('configMap', directory, files, chance)),
    ...chance.maybe(25, 'generatorOptions', () => generatorOptions(chance)),
  }),
  secretGenerator: ({ directory, files, chance }) => ({
    secretGenerator: chance.list(1, 2, () => configGenerator('secret', directory, files, chance)),
    ...chance.maybe(25, 'generatorOptions', () => generatorOptions(chance)),
  }),
  replacements: ({ directory, files, objects, chance, yaml }) => ({
    replacements: chance.list(1, 2, index => {
      const made = replacement(objects, chance)
      if (chance.is(75)) return made
      files.set(`${directory}/replacement-${index}.yaml`, yaml.document(made))
      return { path: `replacement-${index}.yaml` }
    }),
  }),
  sortOptions: ({ chance }) => ({
    sortOptions: chance.is(60)
      ? { order: chance.pick(['legacy', 'fifo']) }
      : { order: 'legacy', legacySortOptions: { orderFirst: ['ConfigMap', 'Deployment'], orderLast: ['Namespace'] } },
  }),
  buildMetadata: ({ chance }) => ({
    buildMetadata: chance.some(['originAnnotations', 'managedByLabel'], 60),
  }),
  configurations: ({ directory, files, chance, yaml }) => {
    files.set(`${directory}/config.yaml`, yaml.document(configuration(chance)))
    return { configurations: ['config.yaml'] }
  },
  transformers: layer => ({ transformers: layer.chance.list(1, 2, index => plugin(layer, 'transformer', index)) }),
  generators: layer => ({ generators: [plugin(layer, 'generator', 0)] }),
  ...changes,
}

function strategicText({ directory, files, objects, chance, yaml }: Layer, stem: string): Value {
  const patches = chance.list(1, chance.is(10) ? 2 : 1, () => strategicPatch(chance.pick(objects), chance))
  const text = yaml.documents(patches)
  if (chance.is(60)) return text
  files.set(`${directory}/${stem}.yaml`, text)
  return `${stem}.yaml`
}

function strategicEntry(layer: Layer, index: number): Fields {
  const { chance, objects } = layer
  const text = strategicText(layer, `smp-${index}`) as string
  return {
    [text.includes('\n') ? 'patch' : 'path']: text,
    ...chance.maybe(30, 'target', () => target(chance.pick(objects), chance)),
    ...chance.maybe(12, 'options', () => ({
      ...chance.maybe(60, 'allowNameChange', () => true),
      ...chance.maybe(60, 'allowKindChange', () => true),
    })),
  }
}

function jsonEntry({ directory, files, objects, chance, yaml }: Layer, index: number, exact = false): Fields {
  const aim = chance.pick(objects)
  const operations = jsonPatch(aim, chance)
  const text = chance.is(20)
    ? JSON.stringify(operations, (_key, inner) => inner?.text ?? inner)
    : yaml.document(operations)
  const entry: Fields = { target: exact ? exactTarget(aim, chance) : target(aim, chance) }
  if (chance.is(70)) return { ...entry, patch: text }
  files.set(`${directory}/json-${index}.yaml`, text)
  return { ...entry, path: `json-${index}.yaml` }
}

function plugin(
  { directory, files, objects, chance, yaml }: Layer,
  what: 'transformer' | 'generator',
  index: number,
): Value {
  const config =
    what === 'transformer'
      ? transformerConfig(objects, directory, files, chance)
      : generatorConfig(directory, files, chance)
  const text = yaml.document(config)
  if (chance.is(30)) return text
  files.set(`${directory}/${what}-${index}.yaml`, text)
  return `${what}-${index}.yaml`
}

/** Overlays of everything that the engine builds; `only` keeps the features to those named. */
export function overlays(only?: readonly string[]): fc.Arbitrary<Overlay> {
  return fc.gen().map(g => overlay(new Chance(g), only))
}

export const FEATURE_NAMES = Object.keys(FEATURES)

/** One overlay over bases, with components, of at most three features a layer. */
export function overlay(chance: Chance, only: readonly string[] = FEATURE_NAMES): Overlay {
  const files: Files = new Map()
  const objects: Fields[] = []
  const yaml = new YamlText(chance, chance.pick([0, 4, 4, 15]))
  const layer = (directory: string): Layer => ({ directory, files, objects, chance, yaml })
  const resources = [base(layer('base'))]
  if (chance.is(25)) resources.push(base(layer('other')))
  const middle = chance.is(15)
    ? diamond(layer, resources, only)
    : chance.is(20)
      ? wrap(layer('middle'), resources, 1, only)
      : undefined
  const parts = chance.is(12) ? ['part', 'second'] : chance.is(18) ? ['part'] : []
  const components = parts.map(part => component(layer(part), only))
  const below = middle ?? resources
  if (chance.is(45)) below.push(...own(layer('overlay')))
  const features = Object.assign(
    {},
    ...pickFeatures(chance, only, 3).map(feature => feature(layer('overlay'))),
  ) as Fields
  const root: Fields = { resources: below, ...features, ...(components.length > 0 ? { components } : {}) }
  write(layer('overlay'), root)
  return { files: Object.fromEntries(files), target: 'overlay', objects }
}

function pickFeatures(chance: Chance, only: readonly string[], max: number, min = 0): Feature[] {
  const names = new Set(chance.list(min, max, () => chance.pick(only)))
  return [...names].map(name => FEATURES[name]!)
}

/** A kustomization of objects and little else; returns how an overlay beside it names it. */
function base(layer: Layer): string {
  const { chance, directory } = layer
  const features = chance.is(20)
    ? 'namespace namePrefix configMapGenerator commonLabels sharedLabels configurations'
        .split(' ')
        .map(name => FEATURES[name]!)
    : []
  const resources = own(layer)
  write(layer, {
    ...(Object.assign({}, ...chance.some(features, 40).map(feature => feature(layer))) as Fields),
    resources,
  })
  return `../${directory}`
}

function wrap(
  layer: Layer,
  resources: readonly string[],
  max: number,
  only: readonly string[],
  more: Fields = {},
): string[] {
  const features = pickFeatures(layer.chance, only, max).map(feature => feature(layer))
  write(layer, { resources: [...resources], ...(Object.assign({}, ...features, more) as Fields) })
  return [`../${layer.directory}`]
}

/** The same bases by two ways, under other names. */
function diamond(layer: (directory: string) => Layer, resources: readonly string[], only: readonly string[]): string[] {
  return ['left', 'right'].flatMap(side => {
    const renamed = layer(side).chance.pick<Fields>([
      { namePrefix: `${side}-` },
      { nameSuffix: `-${side}` },
      { namespace: side },
    ])
    return wrap(layer(side), resources, 2, only, renamed)
  })
}

function component(layer: Layer, only: readonly string[]): string {
  const { chance, directory } = layer
  const features = pickFeatures(chance, only, 2, 1).map(feature => feature(layer))
  write(layer, {
    apiVersion: 'kustomize.config.k8s.io/v1alpha1',
    kind: 'Component',
    ...(chance.is(50) ? { resources: own(layer) } : {}),
    ...(Object.assign({}, ...features) as Fields),
  })
  return `../${directory}`
}

/** Objects in files of a directory; returns the files. */
function own({ directory, files, objects, chance, yaml }: Layer): string[] {
  return chance.list(1, 2, index => {
    // twice the same object mostly fails, which shows little
    const made = chance.list(1, 3, () => object(chance)).filter(one => chance.is(4) || !objects.some(isSame(one)))
    objects.push(...made)
    files.set(`${directory}/r${index}.yaml`, yaml.documents(made))
    return `r${index}.yaml`
  })
}

const isSame =
  (one: Fields) =>
  (other: Fields): boolean =>
    one.kind === other.kind && nameOf(one) === nameOf(other)

const nameOf = ({ metadata }: Fields): string =>
  isFields(metadata) ? `${metadata.namespace ?? 'default'}/${metadata.name}` : ''

function write({ directory, files, yaml, chance }: Layer, kustomization: Fields): void {
  const head =
    chance.is(50) && kustomization.kind === undefined
      ? { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization' }
      : {}
  const name = chance.is(95) ? 'kustomization.yaml' : chance.pick(['kustomization.yml', 'Kustomization'])
  files.set(`${directory}/${name}`, yaml.document({ ...head, ...kustomization }))
}
