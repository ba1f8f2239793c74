import { describe, expect, test } from 'vitest'
import { renderWithHoles } from '../../src/flux/render-with-holes.ts'
import { display, idOf } from '../../src/kube/object.ts'
import { parseDocuments } from '../../src/kube/yaml/parse-documents.ts'
import { treeOf } from '../base/git/tree-of.ts'
import { configMap, HEALTHY } from './hole-cases.ts'

type Files = Readonly<Record<string, string>>

function rendered(files: Files, spec = '') {
  const text = `kind: Kustomization\nmetadata: {name: k, namespace: apps}\nspec:\n  path: ./app\n${spec}`
  const [root] = parseDocuments({ repository: 'fleet', path: 'k.yaml' }, Buffer.from(text))
  if (root?.type !== 'map') throw new Error('no object')
  const artifact = { repository: 'fleet', tree: treeOf({ ...HEALTHY, ...files }) }
  const { objects, holes } = renderWithHoles(artifact, { root, trail: [] })
  return { objects: objects.map(object => display(idOf(object))), holes }
}

const K = 'app/kustomization.yaml'
const REMOTE = 'https://example.com/b.yaml'

/** Files with a hole, and one of them, or a text in one, that what the hole hides depends on. */
const DEPENDS: Readonly<Record<string, { files: Files; changed: Files; unrelated?: Files }>> = {
  'the file itself': {
    files: { [K]: 'resources: [a.yaml, b.yaml]\n', 'app/a.yaml': configMap('a'), 'app/b.yaml': 'a: !foo x\n' },
    changed: { 'app/b.yaml': 'a: !foo y\n' },
    unrelated: { 'app/a.yaml': configMap('a', '  labels: {x: z}\n') },
  },
  'an address': {
    files: { [K]: `resources: [a.yaml, "${REMOTE}"]\n`, 'app/a.yaml': configMap('a') },
    changed: { [K]: 'resources: [a.yaml, "https://example.com/c.yaml"]\n' },
    unrelated: { [K]: `resources:\n- "${REMOTE}"\n- a.yaml\n` },
  },
  'the text of a field': {
    files: { [K]: 'resources: [a.yaml]\nfoo: {bar: 1}\n', 'app/a.yaml': configMap('a') },
    changed: { [K]: 'resources: [a.yaml]\nfoo: {bar: 2}\n' },
    unrelated: { [K]: '# a line more\nresources: [a.yaml]\nfoo: {bar: 1}\n' },
  },
  'a file that a field names': {
    files: { [K]: 'resources: [a.yaml]\nopenapi: {path: s.json}\n', 'app/a.yaml': configMap('a'), 'app/s.json': '{}' },
    changed: { 'app/s.json': '{"a": 1}' },
    unrelated: { 'app/t.json': '{}' },
  },
  'the file of a patch': {
    files: {
      [K]: 'resources: [a.yaml]\npatches: [{path: p.yaml, target: {kind: ConfigMap}}]\n',
      'app/a.yaml': configMap('a'),
      'app/p.yaml': 'a: !foo x\n',
    },
    changed: { 'app/p.yaml': 'a: !foo y\n' },
  },
  'the target of a patch': {
    files: {
      [K]: 'resources: [a.yaml]\npatches: [{path: p.yaml, target: {kind: ConfigMap}}]\n',
      'app/a.yaml': configMap('a'),
      'app/p.yaml': 'a: !foo x\n',
    },
    changed: { [K]: 'resources: [a.yaml]\npatches: [{path: p.yaml, target: {name: a}}]\n' },
  },
  'what a base that cannot be read may name': {
    files: {
      [K]: 'resources: [a.yaml, ../base]\n',
      'app/a.yaml': configMap('a'),
      'base/kustomization.yaml': 'resources: !foo [../elsewhere/b.yaml]\n',
      'elsewhere/b.yaml': configMap('b'),
    },
    changed: { 'elsewhere/b.yaml': configMap('b', '  labels: {x: z}\n') },
  },
  'what a generator reads': {
    files: {
      [K]: 'resources: [a.yaml]\nconfigMapGenerator: [{name: g, files: [x=g.txt], foo: bar}]\n',
      'app/a.yaml': configMap('a'),
      'app/g.txt': 'x',
    },
    changed: { 'app/g.txt': 'y' },
  },
}

describe('what a hole hides changes with everything that decides it', () => {
  test.for(Object.entries(DEPENDS))('%s', ([, { files, changed, unrelated = {} }]) => {
    const digest = (more: Files) => {
      const { holes } = rendered({ ...files, ...more })
      expect(holes).toHaveLength(1)
      return holes[0]!.hides
    }
    expect(digest({})).toBe(digest(unrelated))
    expect(digest(changed)).not.toBe(digest({}))
  })

  test('the values of variables, where one does not fit its place', () => {
    const files = { [K]: 'resources: [a.yaml]\n', 'app/a.yaml': configMap('a', `  labels:\n    b: \${SET}\n`) }
    const hides = (value: string) => {
      const spec = `  postBuild: {substitute: {SET: ${JSON.stringify(value)}}}\n`
      return rendered(files, spec).holes.map(hole => hole.hides)
    }
    expect(hides('x: y')).toHaveLength(1)
    expect(hides('x: y')).not.toEqual(hides('x: z'))
  })
})

describe('what is missing because of a hole is no refusal of Flux', () => {
  const missing = 'resources: [a.yaml, b.yaml]\n'
  const files = (fields: string, b: string) => ({
    [K]: missing + fields,
    'app/a.yaml': configMap('a'),
    'app/b.yaml': b,
  })
  const AMBIGUOUS = `${configMap('b')}  c: !foo x\n`
  const patch =
    'patches:\n- patch: |\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: b}\n    data: {a: z}\n'
  const outcomes = (fields: string, b: string) =>
    rendered(files(fields, b)).holes.map(({ error, fatal, effect }) => [error.code, fatal, effect])

  test('a patch for an object that may be there is a hole of its own', () => {
    expect(outcomes(patch, AMBIGUOUS)).toEqual([
      ['yaml-ambiguous', false, 'missing'],
      ['kustomize-invalid', false, 'different'],
    ])
  })
  test('one for an object that is nowhere is refused', () => {
    expect(outcomes(patch, configMap('c'))).toEqual([['kustomize-invalid', true, 'different']])
  })
  test('a replacement from an object that may be there', () => {
    const replacement =
      'replacements:\n- source: {kind: ConfigMap, name: b, fieldPath: data.a}\n  targets: [{select: {name: a}, fieldPaths: [data.a]}]\n'
    expect(outcomes(replacement, AMBIGUOUS)).toEqual([
      ['yaml-ambiguous', false, 'missing'],
      ['kustomize-invalid', false, 'different'],
    ])
  })
  test('a file that is not there is refused whatever else is missing', () => {
    expect(outcomes('patches: [{path: nope.yaml}]\n', AMBIGUOUS)).toEqual([
      ['yaml-ambiguous', false, 'missing'],
      ['kustomize-missing', true, 'different'],
    ])
  })
})

describe('what cannot be built in parts is an error as a whole', () => {
  const render = (files: Files) => () => rendered(files)
  test.for<[string, Files, string]>([
    ['no directory', { 'a.yaml': configMap('a') }, 'path-not-found'],
    ['a root of invalid YAML', { [K]: 'resources: [\n' }, 'yaml-syntax'],
    ['a root that is a list', { [K]: '- a.yaml\n' }, 'kustomize-invalid'],
    ['a root of another kind', { [K]: 'kind: Pod\nresources: []\n' }, 'kustomize-invalid'],
    [
      'more than the limits allow',
      { [K]: 'resources: [nope.yaml, a.yaml]\n', 'app/a.yaml': `${configMap('a')}---\n`.repeat(30_000) },
      'kustomize-missing',
    ],
  ])('%s', ([, files, code]) => {
    expect(render(files)).toThrow(expect.objectContaining({ code }))
  })
})

test('of a healthy build nothing is left out', () => {
  const { objects, holes } = rendered({ [K]: 'resources: [../a.yaml, ../web.yaml]\nnamePrefix: x-\n' })
  expect(holes).toEqual([])
  expect(objects).toHaveLength(2)
})
