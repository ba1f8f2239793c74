import { describe, expect, test } from 'vitest'
import { at, type Path } from '../../src/kube/node.ts'
import { idOf } from '../../src/kube/object.ts'
import { build } from '../../src/kustomize/pipeline/build.ts'
import { treeOf } from '../base/git/tree-of.ts'
import { refusalAt } from '../repository/runner/refusal-of.ts'

const CONFIG_MAP = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\n'
const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      volumes:
        - configMap:
            name: cm
        - configMap:
            name: other
`
const BINDING = `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: rb
subjects:
  - kind: ServiceAccount
    name: app
    namespace: default
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: app
`

/** Where the value of a field of the first object of a kind stands, and through what it came. */
function origin(files: Record<string, string>, kind: string, path: Path): string {
  const object = build(treeOf(files), '', 'overlay').find(candidate => idOf(candidate).kind === kind)
  const found = at(object?.root, path)
  if (found?.type !== 'scalar') throw new Error(`${kind} has no text at ${path.join('.')}`)
  const { file, line, column, via } = found.origin
  const steps = (via ?? []).map(step => ` < ${step.step} ${step.file}:${step.line}`)
  return `${found.value} ${file}:${line}:${column}${steps.join('')}`
}

const FILES = {
  'base/kustomization.yaml': 'resources:\n  - cm.yaml\n  - web.yaml\n  - rb.yaml\nnamePrefix: p-\n',
  'base/cm.yaml': CONFIG_MAP,
  'base/web.yaml': DEPLOYMENT,
  'base/rb.yaml': BINDING,
  'overlay/kustomization.yaml':
    'resources:\n  - ../base\nconfigMapGenerator:\n  - name: gen\n    literals: [a=b]\nnamespace: team\nnameSuffix: -s\n',
}

describe('who wrote a name', () => {
  test('who wrote it first, by way of its affixes', () => {
    expect(origin(FILES, 'ConfigMap', ['metadata', 'name'])).toBe(
      'p-cm-s base/cm.yaml:4:9 < transformer base/kustomization.yaml:5 < transformer overlay/kustomization.yaml:7',
    )
  })

  test('a reference that followed came by where it stood', () => {
    expect(origin(FILES, 'Deployment', ['spec', 'template', 'spec', 'volumes', 0, 'configMap', 'name'])).toBe(
      'p-cm-s base/cm.yaml:4:9 < transformer base/kustomization.yaml:5 < transformer overlay/kustomization.yaml:7' +
        ' < reference base/web.yaml:10',
    )
  })

  test('a reference to nothing that was renamed stays where it was written', () => {
    expect(origin(FILES, 'Deployment', ['spec', 'template', 'spec', 'volumes', 1, 'configMap', 'name'])).toBe(
      'other base/web.yaml:12:19',
    )
  })

  test('a subject gets the namespace of its account', () => {
    expect(origin(FILES, 'RoleBinding', ['subjects', 0, 'namespace'])).toBe(
      'team overlay/kustomization.yaml:6:12 < reference base/rb.yaml:8',
    )
  })

  test('the trail names the base', () => {
    const [object] = build(treeOf(FILES), '', 'overlay')
    expect(object?.trail).toEqual([
      { step: 'resource', file: 'base/kustomization.yaml', line: 2 },
      { step: 'resource', file: 'overlay/kustomization.yaml', line: 2 },
    ])
  })
})

const refusal = (kustomization: string, others: Record<string, string> = {}) =>
  refusalAt(() => build(treeOf({ 'kustomization.yaml': kustomization, 'a.yaml': CONFIG_MAP, ...others }), '', ''))

describe('what nobody can follow is refused', () => {
  const prefixed = 'resources: [a.yaml]\nnamePrefix: p-\n'
  const configured = 'resources: [a.yaml]\nconfigurations: [c.yaml]\nnamePrefix: p-\n'
  const config = (text: string): [string, Record<string, string>] => [configured, { 'c.yaml': text }]
  const cases: Record<string, [string, Record<string, string>, string]> = {
    'a name with a comma': [
      prefixed,
      { 'a.yaml': CONFIG_MAP.replace('cm', '"a,b"') },
      'kustomize-unsupported @a.yaml:2',
    ],
    'a name that becomes a number': [
      'resources: [a.yaml]\nnamePrefix: "1"\n',
      { 'a.yaml': CONFIG_MAP.replace('cm', 'e3') },
      'kustomize-unsupported @a.yaml:4',
    ],
    'a prefix that is a number': [
      'resources: [a.yaml]\nnamePrefix: 5\n',
      {},
      'kustomize-invalid @kustomization.yaml:2',
    ],
    'a prefix for a map': [...config('namePrefix:\n- path: metadata\n'), 'kustomize-invalid @a.yaml:4'],
    'a reference that is the own name': [
      ...config('nameReference:\n- kind: ConfigMap\n  fieldSpecs:\n  - path: metadata/name\n'),
      'done',
    ],
    'a configuration of two documents': [
      ...config('namePrefix: []\n---\nnameSuffix: []\n'),
      'kustomize-unsupported @c.yaml:3',
    ],
    'a configuration that is a list': [...config('- a\n'), 'kustomize-invalid @c.yaml:1'],
    'an unknown list of fields': [...config('\nunknown: []\n'), 'kustomize-unsupported @c.yaml:2'],
    'a list of fields in other letters': [
      ...config('NamePrefix: []\n'),
      'kustomize-unsupported kustomize-case-variant-key @c.yaml:1',
    ],
    'a path that is a number': [...config('namePrefix:\n- path: 5\n'), 'kustomize-unsupported @c.yaml:2'],
    'a path to all annotations': [
      ...config('namePrefix:\n- path: metadata/annotations\n'),
      'kustomize-unsupported @c.yaml:2',
    ],
    'a path through a merge key': [...config('namePrefix:\n- path: spec/<</a\n'), 'kustomize-unsupported @c.yaml:2'],
    'specs that disagree on create': [
      ...config('namePrefix:\n- path: metadata/name\n  create: true\n'),
      'kustomize-invalid @kustomization.yaml:2',
    ],
    'a subject that is no map': [
      prefixed,
      { 'a.yaml': BINDING.replace(/ {2}- kind[\s\S]*---/, '  - text\n---') },
      'kustomize-unsupported @a.yaml:6',
    ],
    'a subject without name': [
      prefixed,
      { 'a.yaml': BINDING.replace('    name: app\n', '') },
      'kustomize-invalid @a.yaml:6',
    ],
    'a field of metadata that kustomize does not know': [
      'resources: [a.yaml]\nmetadata:\n  uid: x\n',
      {},
      'kustomize-unsupported @kustomization.yaml:3',
    ],
    'a prefix for what has one': [prefixed, {}, 'done'],
  }
  for (const [name, [kustomization, others, expected]] of Object.entries(cases)) {
    test(name, () => expect(refusal(kustomization, others)).toBe(expected))
  }
})

test('many namesakes that one object names many times cost steps, not minutes', () => {
  const accounts = Array.from(
    { length: 2_100 },
    (_, index) => `apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: app\n  namespace: n${index}\n`,
  ).join('---\n')
  const subjects = '- {kind: ServiceAccount, name: app, namespace: elsewhere}\n'.repeat(2_100)
  const binding = `apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata:\n  name: b\nsubjects:\n${subjects}`
  expect(refusal('resources: [a.yaml, b.yaml]\nnamePrefix: p-\n', { 'a.yaml': accounts, 'b.yaml': binding })).toMatch(
    /^render-limits @b.yaml/,
  )
})
