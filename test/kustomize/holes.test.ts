import { describe, expect, test } from 'vitest'
import { RenderBudget } from '../../src/flux/render-budget.ts'
import { renderWithHoles } from '../../src/flux/render-with-holes.ts'
import { display, idOf } from '../../src/kube/object.ts'
import { parseDocuments } from '../../src/kube/parse-documents.ts'
import { treeOf } from '../git/tree-of.ts'

/** What is rendered of a directory with these files, and what is left out of it. */
function rendered(files: Readonly<Record<string, string>>, spec = '') {
  const text = `kind: Kustomization\nmetadata: {name: k}\nspec:\n  path: ./\n${spec}`
  const [root] = parseDocuments({ repository: 'fleet', path: 'k.yaml' }, Buffer.from(text))
  if (root?.type !== 'map') throw new Error('no object')
  const artifact = { repository: 'fleet', tree: treeOf(files) }
  const { objects, holes } = renderWithHoles(artifact, { root, trail: [] }, { budget: new RenderBudget() })
  return {
    objects: objects.map(object => display(idOf(object))),
    holes: holes.map(({ error, fatal, effect }) => {
      const place = `${error.origin?.file}:${error.origin?.line}`
      return `${fatal ? 'fatal' : 'not fatal'}, ${effect}: ${error.code} @${place}`
    }),
    hides: holes.map(({ hides }) => hides),
    roots: objects,
  }
}

const configMap = (name: string, value = 'x') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  a: ${value}\n`

describe('what cannot be built is as small as its cause', () => {
  test.for<[string, Readonly<Record<string, string>>, string[]]>([
    [
      'a file that is not there',
      { 'kustomization.yaml': 'resources:\n- a.yaml\n- b.yaml\n' },
      ['fatal, missing: kustomize-missing @kustomization.yaml:3'],
    ],
    [
      'invalid YAML',
      { 'kustomization.yaml': 'resources:\n- a.yaml\n- b.yaml\n', 'b.yaml': 'a: [\n' },
      ['fatal, missing: yaml-syntax @b.yaml:2'],
    ],
    [
      'one document of a file',
      { 'kustomization.yaml': 'resources:\n- a.yaml\n- b.yaml\n', 'b.yaml': `kind: X\n---\n` },
      ['fatal, missing: invalid-object @b.yaml:1'],
    ],
    [
      'a remote base',
      { 'kustomization.yaml': 'resources:\n- a.yaml\n- https://example.com/b.yaml\n' },
      ['not fatal, missing: kustomize-unsupported @kustomization.yaml:3'],
    ],
    [
      'an unknown field',
      { 'kustomization.yaml': 'resources:\n- a.yaml\nfoo: bar\n' },
      ['not fatal, different: kustomize-unsupported @kustomization.yaml:3'],
    ],
    [
      'variables',
      {
        'kustomization.yaml':
          'resources:\n- a.yaml\nvars:\n- name: X\n  objref: {kind: ConfigMap, name: a, apiVersion: v1}\n',
      },
      ['not fatal, different: kustomize-unsupported @kustomization.yaml:3'],
    ],
    [
      'a patch without target',
      {
        'kustomization.yaml': `resources:\n- a.yaml\npatches:\n- patch: |\n    apiVersion: v1\n    kind: ConfigMap\n    metadata:\n      name: nope\n`,
      },
      ['fatal, different: kustomize-invalid @kustomization.yaml:5'],
    ],
    [
      'a generator',
      { 'kustomization.yaml': `resources:\n- a.yaml\nconfigMapGenerator:\n- name: g\n  files: [nope]\n` },
      ['fatal, different: kustomize-missing @kustomization.yaml:5'],
    ],
    [
      'a base',
      {
        'kustomization.yaml': `resources:\n- a.yaml\n- base\n`,
        'base/kustomization.yaml': 'resources: [x.yaml]\nkind: [\n',
      },
      ['fatal, missing: yaml-syntax @base/kustomization.yaml:3'],
    ],
    [
      'the same object twice',
      { 'kustomization.yaml': `resources:\n- a.yaml\n- b.yaml\n`, 'b.yaml': configMap('a', 'y') },
      ['fatal, missing: kustomize-invalid @b.yaml:2'],
    ],
    [
      'an object of no namespace',
      {
        'kustomization.yaml': `namespace: ns\nresources:\n- a.yaml\n- b.yaml\n`,
        'b.yaml': `apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n  name: b\nsubjects: {}\n`,
      },
      ['fatal, missing: kustomize-invalid @b.yaml:5'],
    ],
  ])('%s', ([, files, holes]) => {
    const result = rendered({ 'a.yaml': configMap('a'), ...files })
    expect(result.holes).toEqual(holes)
    expect(result.objects.filter(one => one.includes('ConfigMap'))).toHaveLength(1)
  })
})
