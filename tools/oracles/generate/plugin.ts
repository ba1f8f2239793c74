import type { Chance } from './chance.ts'
import { configGenerator } from './config-generators.ts'
import type { Files } from './overlay.ts'
import { image, jsonPatch, likelyName, strategicPatch, target } from './patch.ts'
import { replacement } from './replacement.ts'
import type { Fields, Value } from './value.ts'
import { NAMESPACES, name, textPairs } from './vocabulary.ts'

const FIELD_SPECS: readonly Fields[] = [
  { path: 'metadata/labels', create: true },
  { path: 'metadata/annotations', create: true },
  { path: 'metadata/name' },
  { path: 'metadata/namespace', create: true },
  { path: 'spec/template/metadata/labels', create: true, kind: 'Deployment' },
  { path: 'spec/template/metadata/labels', create: false },
  { path: 'spec/selector/matchLabels', create: true, kind: 'Deployment', group: 'apps' },
  { path: 'spec/replicas', create: true, kind: 'MyKind' },
  { path: 'spec/value', kind: 'MyKind' },
  { path: 'spec/ref/name', kind: 'MyKind' },
  { path: 'spec/containers[]/image', kind: 'MyKind' },
  { path: 'spec/containers/image', kind: 'MyKind' },
  { path: 'subjects/namespace', kind: 'RoleBinding' },
  { path: 'spec/list', kind: 'MyKind' },
]

export const fieldSpecs = (chance: Chance): Value => chance.list(1, 2, () => chance.pick(FIELD_SPECS))

type Make = (objects: readonly Fields[], directory: string, files: Files, chance: Chance) => Fields

/** Builtin plugins as configurations of their own, with what their field of a kustomization.yaml cannot say. */
const TRANSFORMERS: Readonly<Record<string, Make>> = {
  NamespaceTransformer: (_o, _d, _f, chance) => ({
    metadata: { name: 'plugin', namespace: chance.pick(NAMESPACES) },
    ...chance.maybe(40, 'fieldSpecs', () => fieldSpecs(chance)),
    ...chance.maybe(30, 'unsetOnly', () => true),
    ...chance.maybe(30, 'setRoleBindingSubjects', () => chance.pick(['defaultOnly', 'allServiceAccounts', 'none'])),
  }),
  PrefixTransformer: (_o, _d, _f, chance) => ({
    prefix: 'p-',
    fieldSpecs: chance.is(70) ? [{ path: 'metadata/name' }] : fieldSpecs(chance),
  }),
  SuffixTransformer: (_o, _d, _f, chance) => ({
    suffix: '-s',
    fieldSpecs: chance.is(70) ? [{ path: 'metadata/name' }] : fieldSpecs(chance),
  }),
  PrefixSuffixTransformer: (_o, _d, _f, chance) => ({ prefix: 'p-', suffix: '-s', fieldSpecs: fieldSpecs(chance) }),
  LabelTransformer: (_o, _d, _f, chance) => ({ labels: textPairs(chance), fieldSpecs: fieldSpecs(chance) }),
  AnnotationsTransformer: (_o, _d, _f, chance) => ({ annotations: textPairs(chance), fieldSpecs: fieldSpecs(chance) }),
  ImageTagTransformer: (_o, _d, _f, chance) => ({
    imageTag: image(chance),
    ...chance.maybe(50, 'fieldSpecs', () => fieldSpecs(chance)),
  }),
  ReplicaCountTransformer: (_o, _d, _f, chance) => ({
    replica: { name: likelyName(chance), count: chance.upTo(5) },
    fieldSpecs: chance.is(60)
      ? [{ path: 'spec/replicas', create: chance.is(50), kind: 'Deployment' }]
      : fieldSpecs(chance),
  }),
  PatchTransformer: (objects, _d, _f, chance) => {
    const object = chance.pick(objects)
    return chance.is(50)
      ? { patch: JSON.stringify(strategicPatchPlain(object, chance)) }
      : { patch: JSON.stringify(plain(jsonPatch(object, chance))), target: target(object, chance) }
  },
  PatchStrategicMergeTransformer: (objects, _d, _f, chance) => ({
    patches: JSON.stringify(strategicPatchPlain(chance.pick(objects), chance)),
  }),
  PatchJson6902Transformer: (objects, _d, _f, chance) => {
    const object = chance.pick(objects)
    return { target: target(object, chance), jsonOp: JSON.stringify(plain(jsonPatch(object, chance))) }
  },
  ReplacementTransformer: (objects, _d, _f, chance) => ({ replacements: [replacement(objects, chance)] }),
  SortOrderTransformer: (_o, _d, _f, chance) => ({ sortOptions: { order: chance.pick(['fifo', 'legacy']) } }),
}

/** What is written by JSON.stringify has no text of its own for a scalar. */
const plain = (value: Value): unknown => JSON.parse(JSON.stringify(value, (_key, inner) => inner?.text ?? inner))
const strategicPatchPlain = (object: Fields, chance: Chance): unknown => plain(strategicPatch(object, chance))

const GENERATORS = { ConfigMapGenerator: 'configMap', SecretGenerator: 'secret' } as const

export function transformerConfig(objects: readonly Fields[], directory: string, files: Files, chance: Chance): Fields {
  const kind = chance.pick(Object.keys(TRANSFORMERS))
  return {
    apiVersion: 'builtin',
    kind,
    metadata: { name: `t-${name(chance)}` },
    ...TRANSFORMERS[kind]!(objects, directory, files, chance),
  }
}

export function generatorConfig(directory: string, files: Files, chance: Chance): Fields {
  const kind = chance.pick(Object.keys(GENERATORS) as (keyof typeof GENERATORS)[])
  const { name: own, namespace, ...others } = configGenerator(GENERATORS[kind], directory, files, chance)
  return { apiVersion: 'builtin', kind, metadata: { name: own!, ...(namespace ? { namespace } : {}) }, ...others }
}

/** A configuration of the transformers, with fields of every kind of them. */
export const configuration = (chance: Chance): Fields => ({
  ...chance.maybe(50, 'nameReference', () => [
    {
      kind: chance.pick(['ConfigMap', 'Secret', 'Service', 'MyKind']),
      fieldSpecs: [{ kind: 'MyKind', path: chance.pick(['spec/ref/name', 'spec/value', 'spec/ref']) }],
    },
  ]),
  ...chance.maybe(20, 'namespace', () => fieldSpecs(chance)),
  ...chance.maybe(20, 'namePrefix', () => fieldSpecs(chance)),
  ...chance.maybe(15, 'nameSuffix', () => fieldSpecs(chance)),
  ...chance.maybe(20, 'commonLabels', () => fieldSpecs(chance)),
  ...chance.maybe(15, 'labels', () => fieldSpecs(chance)),
  ...chance.maybe(15, 'templateLabels', () => fieldSpecs(chance)),
  ...chance.maybe(20, 'commonAnnotations', () => fieldSpecs(chance)),
  ...chance.maybe(20, 'images', () => fieldSpecs(chance)),
  ...chance.maybe(15, 'replicas', () => fieldSpecs(chance)),
})
