import type { Chance } from './chance.ts'
import type { Fields, Value } from './value.ts'

/** A field as people write it, and in forms that only Flux's lenient reading takes. */
const texts = (chance: Chance, text: string): Value => (chance.is(70) ? text : chance.pick<Value>([12, true, 'x-1', 0]))

const unknown = (chance: Chance): Fields =>
  chance.maybe(1, chance.pick(['nonsense', 'note', 'resource', 'x-y']), () =>
    chance.pick<Value>(['x', 1, null, { a: [1] }, []]),
  ) as Fields

/** The kustomization.yaml of a root, with what Flux drops, coerces or adds when it writes the file back. */
export function fluxRoot(chance: Chance, resources: readonly string[]): Fields {
  return {
    ...chance.maybe(60, 'apiVersion', () => 'kustomize.config.k8s.io/v1beta1'),
    ...chance.maybe(60, 'kind', () => 'Kustomization'),
    ...unknown(chance),
    ...chance.maybe(8, 'metadata', () => ({
      name: 'x',
      ...unknown(chance),
      ...chance.maybe(20, 'labels', () => ({})),
    })),
    ...chance.maybe(resources.length > 0 ? 94 : 40, 'resources', () => [...resources]),
    ...chance.maybe(20, 'namespace', () => chance.pick<Value>(['team', 'apps', '', null])),
    ...chance.maybe(12, 'namePrefix', () => texts(chance, 'p-')),
    ...chance.maybe(10, 'nameSuffix', () => texts(chance, '-s')),
    ...chance.maybe(15, 'commonLabels', () => ({ app: texts(chance, 'web') })),
    ...chance.maybe(15, 'commonAnnotations', () => ({ note: texts(chance, 'one') })),
    ...chance.maybe(15, 'labels', () => [
      {
        pairs: { tier: texts(chance, 'front') },
        ...chance.maybe(40, 'includeSelectors', () => chance.is(50)),
        ...chance.maybe(30, 'includeTemplates', () => chance.is(50)),
        ...unknown(chance),
      },
    ]),
    ...chance.maybe(15, 'images', () => [
      { name: 'nginx', newTag: texts(chance, '1.25'), ...unknown(chance) },
      ...chance.list(0, 1, () => ({ name: 'app', newName: 'example.org/app', ...chance.maybe(30, 'newTag', () => 2) })),
    ]),
    ...chance.maybe(1, 'replicas', () => [{ name: 'none', count: chance.pick<Value>([1, 0, 3]) }]),
    ...chance.maybe(25, 'configMapGenerator', () => chance.list(1, 2, index => generated(chance, `made-${index}`))),
    ...chance.maybe(12, 'secretGenerator', () => [
      { ...generated(chance, 'made-secret'), ...chance.maybe(30, 'type', () => 'Opaque') },
    ]),
    ...chance.maybe(12, 'generatorOptions', () => ({
      ...chance.maybe(60, 'disableNameSuffixHash', () => chance.is(60)),
      ...chance.maybe(40, 'labels', () => ({ made: texts(chance, 'yes') })),
      ...chance.maybe(20, 'immutable', () => true),
      ...unknown(chance),
    })),
    ...chance.maybe(15, 'patches', () => [
      {
        target: { kind: 'ConfigMap', ...unknown(chance) },
        patch: 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: any\n  labels:\n    patched: "1"\n',
        ...chance.maybe(20, 'options', () => ({ allowNameChange: false })),
        ...unknown(chance),
      },
    ]),
    ...chance.maybe(8, 'buildMetadata', () => chance.some(['originAnnotations', 'managedByLabel'], 60)),
    ...chance.maybe(8, 'sortOptions', () => ({ order: chance.pick(['legacy', 'fifo']), ...unknown(chance) })),
    ...chance.maybe(5, 'openapi', () => ({})),
    ...chance.maybe(5, 'crds', () => []),
    ...chance.maybe(5, 'components', () => chance.pick<Value>([[], null])),
  }
}

const generated = (chance: Chance, name: string): Fields => ({
  name,
  literals: ['a=1', chance.pick(['b=two', 'b=', 'b=x=y'])],
  ...chance.maybe(25, 'options', () => ({
    disableNameSuffixHash: chance.is(70),
    ...chance.maybe(40, 'annotations', () => ({ note: 'x' })),
  })),
  ...chance.maybe(20, 'behavior', () => 'create'),
  ...unknown(chance),
})
