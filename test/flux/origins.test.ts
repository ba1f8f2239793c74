import { describe, expect, test } from 'vitest'
import { BailiwickError } from '../../src/base/errors.ts'
import { packTree } from '../../src/flux/artifact.ts'
import { renderKustomization } from '../../src/flux/render-kustomization.ts'
import { at, type Node } from '../../src/kube/node.ts'
import { parseDocuments } from '../../src/kube/yaml/parse-documents.ts'
import { treeOf } from '../base/git/tree-of.ts'
import { refusalAt } from '../repository/runner/refusal-of.ts'

const CONFIG_MAP = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: one\n'

function render(spec: string, files: Record<string, string> = { 'apps/a.yaml': CONFIG_MAP }) {
  const text = `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: k\nspec:\n${spec}`
  const [root] = parseDocuments({ repository: 'fleet', path: 'clusters/k.yaml' }, Buffer.from(text))
  if (root?.type !== 'map') throw new Error('no object')
  return renderKustomization({ repository: 'tenant', tree: treeOf(files) }, { root, trail: [] })
}

const refusal = (spec: string) => refusalAt(() => render(spec))

const show = (node: Node | undefined): string => {
  const { repository, file, line, via } = node!.origin
  return [`${repository} ${file}:${line}`, ...(via ?? []).map(step => `${step.step} ${step.file}:${step.line}`)].join(
    ' < ',
  )
}

test('a generated kustomization leaves no trail, and values stand in their files', () => {
  const [object] = render('  path: ./apps\n')
  expect(object!.trail).toEqual([])
  expect(show(at(object!.root, ['data', 'x']))).toBe('tenant apps/a.yaml:6')
})

test('targetNamespace stands in the file of the Kustomization', () => {
  const [object] = render('  path: ./apps\n  targetNamespace: forced\n')
  const expected = 'fleet clusters/k.yaml:7 < flux-target-namespace clusters/k.yaml:7'
  expect(show(at(object!.root, ['metadata', 'namespace']))).toBe(expected)
})

test('a patch of the Kustomization stands at its own line there', () => {
  const patches =
    '  patches:\n  - target: {kind: ConfigMap}\n    patch: |\n      - op: replace\n        path: /data/x\n        value: two\n'
  const [object] = render(`  path: ./apps\n${patches}`)
  expect(show(at(object!.root, ['data', 'x']))).toBe('fleet clusters/k.yaml:12 < flux-patch clusters/k.yaml:8')
})

test('images, affixes and common metadata of the Kustomization stand at their own lines there', () => {
  const spec =
    '  path: ./apps\n  namePrefix: p-\n  commonMetadata:\n    labels: {team: a}\n    annotations: {note: b}\n'
  const [object] = render(spec)
  expect(show(at(object!.root, ['metadata', 'labels', 'team']))).toBe('fleet clusters/k.yaml:9')
  expect(show(at(object!.root, ['metadata', 'annotations', 'note']))).toBe('fleet clusters/k.yaml:10')
  expect(show(at(object!.root, ['metadata', 'name']))).toContain('clusters/k.yaml:7')
})

describe('what the API server refuses is refused at its line', () => {
  const fields = [
    'commonMetadata: {labels: {a: 1}}',
    'commonMetadata: [a]',
    'components: {a: b}',
    'components: [1]',
    'images: [a]',
    'images: [{name: 1}]',
    'images: [{name: a, tag: b}]',
    'namePrefix: 1',
    'nameSuffix: null',
    'targetNamespace: {}',
    'patches: null',
    'patches: [{path: x.yaml}]',
    'patches: [{patch: "a: b", options: {allowNameChange: true}}]',
    'patches: [{patch: "a: b", target: {kind: 1}}]',
    'patchesStrategicMerge: [x.yaml]',
    'buildMetadata: originAnnotations',
  ]
  for (const field of fields) {
    test(field, () => {
      expect(refusal(`  path: ./apps\n  ${field}\n`)).toBe('flux-invalid @clusters/k.yaml:7')
    })
  }
  test.each([
    ['components: [/x]', 'kustomize-path-escape'],
    ['components: ["https://example.com/x"]', 'kustomize-remote-base'],
  ])('%s', (field, rule) => {
    expect(refusal(`  path: ./apps\n  ${field}\n`)).toBe(`flux-invalid ${rule} @clusters/k.yaml:7`)
  })
  test('a path that is not there', () => {
    expect(refusal('  path: ./none\n')).toBe('path-not-found @clusters/k.yaml:6')
  })
  test('what changes nothing', () => {
    const spec = '  path: ./apps\n  images: []\n  prune: true\n  postBuild: {}\n  ignore: [{paths: [/data]}]\n'
    expect(refusal(spec)).toBe('done')
  })
})

describe('the root file', () => {
  const files = (text: string) => ({ 'apps/a.yaml': CONFIG_MAP, 'apps/kustomization.yaml': text })
  const said = (text: string): string => {
    try {
      return `${render('  path: ./apps\n', files(text)).length} objects`
    } catch (error) {
      if (!(error instanceof BailiwickError)) throw error
      return `${error.code} ${error.rule ?? ''} ${error.origin?.file}:${error.origin?.line}`
    }
  }
  test.each([
    ['unknown: 1\nresources: [a.yaml]\n', 'kustomize-unsupported  apps/kustomization.yaml:1'],
    [
      'resources: [a.yaml]\nRESOURCES: [b.yaml]\n',
      'kustomize-unsupported kustomize-case-variant-key apps/kustomization.yaml:2',
    ],
    [
      'resources: [a.yaml]\nimages: [{Name: a}]\n',
      'kustomize-unsupported kustomize-case-variant-key apps/kustomization.yaml:2',
    ],
    ['resources: [a.yaml]\n---\nresources: []\n', 'flux-unsupported  apps/kustomization.yaml:1'],
    ['---\n# none\n---\nresources: [a.yaml]\n', 'flux-unsupported  apps/kustomization.yaml:1'],
    ['- a.yaml\n', 'kustomize-invalid  apps/kustomization.yaml:1'],
    ['resources: a.yaml\n', 'kustomize-invalid  apps/kustomization.yaml:1'],
    [
      'resources: [a.yaml]\nlabels: [{pairs: {a: b}, includeSelectors: "yes"}]\n',
      'kustomize-invalid  apps/kustomization.yaml:2',
    ],
    ['resources: [a.yaml]\nnamePrefix: 1.10\n', 'kustomize-invalid  apps/kustomization.yaml:2'],
  ])('%j: %s', (text, expected) => {
    expect(said(text)).toBe(expected)
  })
})

test('integers are exact up to 64 bits and floats beyond', () => {
  const thing =
    'apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nbig: 18446744073709551615\nexact: 9007199254740993\n'
  const [object] = render('  path: ./apps\n', { 'apps/a.yaml': thing })
  expect(at(object!.root, ['big'])).toMatchObject({ value: 2 ** 64 })
  expect(at(object!.root, ['exact'])).toMatchObject({ value: 9007199254740993n })
})

test('what SOPS left in an object is known where Go drops it', () => {
  const secret = 'apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {x: y}\nsops: {mac: m}\n'
  const [object] = render('  path: ./apps\n', { 'apps/a.yaml': secret })
  expect(at(object!.root, ['sops'])).toBeUndefined()
  expect(show(at(object!.sops, ['mac']))).toBe('tenant apps/a.yaml:5')
})

test('what is packed has the id of its content', () => {
  const whole = treeOf({ 'apps/a.yaml': CONFIG_MAP })
  expect(packTree(whole).id).toBe(whole.id)
  const more = treeOf({ 'apps/a.yaml': CONFIG_MAP, 'apps/x.png': 'x' })
  const other = treeOf({ 'apps/a.yaml': CONFIG_MAP, 'apps/y.png': 'y' })
  expect(packTree(more).id).toBe(packTree(other).id)
  expect(
    packTree(more)
      .list('apps')
      .map(entry => entry.name),
  ).toEqual(['a.yaml'])
  expect(() => packTree(more).read('apps/x.png')).toThrow('no file')
})

// asked of Flux's own build: an empty document that comes first is all that it reads
test.each([
  ['# a comment\n---\n', 1],
  ['\n# two\n\n  # comments\n--- # and a third\n', 1],
  ['---\n# a comment\n', 1],
  ['---\n---\n', 'flux-unsupported @kustomization.yaml:1'],
  ['# a comment\n---\n# another\n---\n', 'flux-unsupported @kustomization.yaml:1'],
  ['null\n---\n', 'flux-unsupported @kustomization.yaml:1'],
])('a kustomization.yaml that starts with %j', (start, expected) => {
  const files = { 'kustomization.yaml': `${start}resources: [a.yaml]\n`, 'a.yaml': CONFIG_MAP }
  const outcome = () => render('  path: ./\n', files)
  if (typeof expected === 'number') expect(outcome()).toHaveLength(expected)
  else expect(refusalAt(outcome)).toBe(expected)
})
