import { describe, expect, test } from 'vitest'
import { BailiwickError } from '../../src/errors.ts'
import { packTree } from '../../src/flux/pack-tree.ts'
import { renderKustomization } from '../../src/flux/render-kustomization.ts'
import { at, type Node } from '../../src/kube/node.ts'
import { parseDocuments } from '../../src/kube/parse-documents.ts'
import { treeOf } from '../git/tree-of.ts'

const CONFIG_MAP = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: one\n'

function render(spec: string, files: Record<string, string> = { 'apps/a.yaml': CONFIG_MAP }) {
  const text = `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: k\nspec:\n${spec}`
  const [root] = parseDocuments({ repository: 'fleet', path: 'clusters/k.yaml' }, Buffer.from(text))
  if (root?.type !== 'map') throw new Error('no object')
  return renderKustomization({ repository: 'tenant', tree: treeOf(files) }, { root, trail: [] })
}

function refusal(spec: string): string {
  try {
    render(spec)
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    return `${error.code} @${error.origin?.file}:${error.origin?.line}`
  }
  return 'rendered'
}

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

describe('what is not supported is refused at its line', () => {
  const fields = [
    'commonMetadata: {labels: {a: b}}',
    'components: [x]',
    'images: [{name: a}]',
    'namePrefix: a',
    'nameSuffix: a',
    'postBuild: {substitute: {a: b}}',
    'ignore: [{paths: [/a]}]',
    'buildMetadata: [originAnnotations]',
  ]
  for (const field of fields) {
    test(field, () => {
      expect(refusal(`  path: ./apps\n  ${field}\n`)).toBe('flux-unsupported @clusters/k.yaml:7')
    })
  }
  test('a path that is not there', () => {
    expect(refusal('  path: ./none\n')).toBe('path-not-found @clusters/k.yaml:6')
  })
  test('nothing of that set', () => {
    expect(refusal('  path: ./apps\n  images: []\n  prune: true\n  postBuild: {}\n')).toBe('rendered')
  })
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
