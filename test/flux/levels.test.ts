import { describe, expect, test } from 'vitest'
import { renderWithHoles } from '../../src/flux/render-with-holes.ts'
import { parseDocuments } from '../../src/kube/yaml/parse-documents.ts'
import { treeOf } from '../base/git/tree-of.ts'
import { configMap, HEALTHY } from './hole-cases.ts'

type Files = Readonly<Record<string, string>>

const REMOTE = 'https://example.com/install.yaml'
const AMBIGUOUS = 'a: !foo x\n'

/** The digest of what is left out of a base that an overlay of a spec uses. */
function digestOf(files: Files, spec = ''): string {
  const text = `kind: Kustomization\nmetadata: {name: k, namespace: apps}\nspec:\n  path: ./app\n${spec}`
  const [root] = parseDocuments({ repository: 'fleet', path: 'k.yaml' }, Buffer.from(text))
  if (root?.type !== 'map') throw new Error('no object')
  const tree = treeOf({ ...HEALTHY, ...files })
  const { holes } = renderWithHoles({ repository: 'fleet', tree }, { root, trail: [] })
  const own = holes.filter(
    ({ error }) => error.origin?.file === 'base/kustomization.yaml' || error.origin?.file === 'base/b.yaml',
  )
  // a patch that fits nothing is left out, too
  expect(own).not.toEqual([])
  return own[0]!.hides
}

const LEFT_OUT: Readonly<Record<string, Files>> = {
  'a remote file': { 'base/kustomization.yaml': `resources: [c.yaml, "${REMOTE}"]\n` },
  'a file that cannot be read': {
    'base/kustomization.yaml': 'resources: [c.yaml, b.yaml]\n',
    'base/b.yaml': AMBIGUOUS,
  },
}
const BASE = { 'base/c.yaml': configMap('c'), 'app/a.yaml': configMap('a') }

/** What a kustomization says to change what comes from its bases. */
const CHANGES: Readonly<Record<string, string>> = {
  namespace: 'namespace: other\n',
  namePrefix: 'namePrefix: x-\n',
  nameSuffix: 'nameSuffix: -x\n',
  patches: "patches: [{target: {kind: ConfigMap}, patch: '- {op: add, path: /data, value: {}}'}]\n",
  patchesJson6902:
    "patchesJson6902: [{target: {version: v1, kind: ConfigMap, name: c}, patch: '- {op: add, path: /data, value: {}}'}]\n",
  patchesStrategicMerge: `patchesStrategicMerge: ['{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: b}}']\n`,
  labels: 'labels: [{pairs: {a: b}}]\n',
  commonLabels: 'commonLabels: {a: b}\n',
  commonAnnotations: 'commonAnnotations: {a: b}\n',
  images: 'images: [{name: nginx, newTag: "2"}]\n',
  imageTags: 'imageTags: [{name: nginx, newTag: "2"}]\n',
  replicas: 'replicas: [{name: web, count: 2}]\n',
  replacements:
    'replacements: [{source: {kind: ConfigMap, name: c, fieldPath: metadata.name}, targets: [{select: {kind: ConfigMap}, fieldPaths: [metadata.labels.x], options: {create: true}}]}]\n',
  transformers:
    "transformers: ['{apiVersion: builtin, kind: NamespaceTransformer, metadata: {name: n, namespace: other}}']\n",
  configurations: 'configurations: [../settings/config.yaml]\n',
}
const SETTINGS = { 'settings/config.yaml': 'namePrefix: [{path: metadata/name}]\n' }

describe.for(Object.entries(LEFT_OUT))('%s of a base hides what is made of it', ([, files]) => {
  const all = { ...BASE, ...SETTINGS, ...files }
  const overlay = (fields = '', more = '') => ({
    'app/kustomization.yaml': `resources: [a.yaml, ../base${more}]\n${fields}`,
  })
  const plain = digestOf({ ...all, ...overlay() })

  test.for(Object.entries(CHANGES))('by %s of its own kustomization', ([, fields]) => {
    const own = { 'base/kustomization.yaml': files['base/kustomization.yaml'] + fields }
    expect(digestOf({ ...all, ...own, ...overlay() })).not.toBe(plain)
  })

  test.for(Object.entries(CHANGES))('by %s of what uses the base', ([, fields]) => {
    expect(digestOf({ ...all, ...overlay(fields) })).not.toBe(plain)
  })

  test.for(Object.entries(CHANGES))('by %s two levels above', ([, fields]) => {
    const middle = { 'middle/kustomization.yaml': 'resources: [../base]\n' }
    const above = { 'app/kustomization.yaml': `resources: [a.yaml, ../middle]\n${fields}` }
    expect(digestOf({ ...all, ...middle, ...above })).not.toBe(plain)
  })

  test.for(Object.entries(CHANGES))('by %s of a component above', ([, fields]) => {
    const component = {
      'part/kustomization.yaml': `apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n${fields}`,
    }
    expect(digestOf({ ...all, ...component, ...overlay('components: [../part]\n') })).not.toBe(plain)
    const nested = { 'outer/kustomization.yaml': 'kind: Component\ncomponents: [../part]\n' }
    expect(digestOf({ ...all, ...component, ...nested, ...overlay('components: [../outer]\n') })).not.toBe(plain)
  })

  test.for(Object.entries(CHANGES))('but not by %s of another base', ([name, fields]) => {
    const other = {
      'other/kustomization.yaml': `resources: [d.yaml]\n${fields.replaceAll('name: c', 'name: d')}`,
      'other/d.yaml': configMap('d'),
    }
    // which fields are written to goes up to what uses both
    const isEqual = digestOf({ ...all, ...other, ...overlay('', ', ../other') }) === plain
    expect(isEqual).toBe(name !== 'configurations')
  })

  test('by the files of patches, and by what replacements read', () => {
    const patch = (value: string) => ({ 'app/p.yaml': `- {op: add, path: /data, value: {a: ${value}}}\n` })
    const patched = (value: string) =>
      digestOf({ ...all, ...patch(value), ...overlay('patches: [{target: {kind: ConfigMap}, path: p.yaml}]\n') })
    expect(patched('x')).not.toBe(patched('y'))
    const read = (value: string) =>
      digestOf({ ...all, 'base/c.yaml': configMap('c', `  labels: {x: ${value}}\n`), ...overlay(CHANGES.replacements) })
    expect(read('x')).not.toBe(read('y'))
  })

  test.for([
    'images: [{name: nginx, newTag: "2"}]',
    'patches: [{target: {kind: ConfigMap}, patch: "- {op: add, path: /data, value: {}}"}]',
    'components: [../part]',
  ])('by %s of the Flux Kustomization', field => {
    const component = { 'part/kustomization.yaml': 'kind: Component\nnamespace: other\n' }
    expect(digestOf({ ...all, ...component, ...overlay() }, `  ${field}\n`)).not.toBe(plain)
  })

  test('but not by objects beside it, a component that only adds some, their order or a comment', () => {
    const component = {
      'part/kustomization.yaml': 'kind: Component\nresources: [e.yaml]\n',
      'part/e.yaml': configMap('e'),
    }
    expect(
      digestOf({ ...all, ...component, ...overlay('# more\nsortOptions: {order: fifo}\ncomponents: [../part]\n') }),
    ).toBe(plain)
    expect(digestOf({ ...all, ...overlay(), 'app/a.yaml': configMap('a', '  labels: {x: z}\n') })).toBe(plain)
  })

  test('by one of two overlays that use the base', () => {
    const two = (fields: string) => ({
      'one/kustomization.yaml': 'namePrefix: one-\nresources: [../base]\n',
      'two/kustomization.yaml': `namePrefix: two-\nresources: [../base]\n${fields}`,
      'app/kustomization.yaml': 'resources: [../one, ../two]\n',
    })
    expect(digestOf({ ...all, ...two('') })).not.toBe(
      digestOf({ ...all, ...two('images: [{name: nginx, newTag: "2"}]\n') }),
    )
  })
})

describe('variables of a base read and write whatever the root builds', () => {
  const vars = {
    ...BASE,
    'base/kustomization.yaml':
      'resources: [c.yaml]\nvars: [{name: A, objref: {apiVersion: v1, kind: ConfigMap, name: c}}]\n',
  }
  const overlay = (more: Files, fields = '') =>
    digestOf({ ...vars, 'app/kustomization.yaml': `resources: [a.yaml, ../base]\n${fields}`, ...more })

  test('an object that uses one', () => {
    expect(overlay({ 'app/a.yaml': configMap('a', '  labels: {x: $(A)}\n') })).not.toBe(overlay({}))
  })
  test('a patch that writes one', () => {
    expect(overlay({}, CHANGES.patches)).not.toBe(overlay({}))
  })
  test('but no file that the build does not reach', () => {
    expect(overlay({ 'elsewhere/a.yaml': configMap('a', '  labels: {x: $(A)}\n') })).toBe(overlay({}))
  })
})

test('what Flux refuses hides nothing more: it applies nothing of it', () => {
  const refused = { ...BASE, 'base/kustomization.yaml': 'resources: [c.yaml, gone.yaml]\n' }
  const overlay = (fields: string) =>
    digestOf({ ...refused, 'app/kustomization.yaml': `resources: [a.yaml, ../base]\n${fields}` })
  expect(overlay('images: [{name: nginx, newTag: "2"}]\n')).toBe(overlay(''))
})
