import { describe, expect, test } from 'vitest'
import { at, type Node, type Path } from '../../src/kube/node.ts'
import { build } from '../../src/kustomize/pipeline/build.ts'
import { treeOf } from '../base/git/tree-of.ts'
import { refusalAt } from '../repository/runner/refusal-of.ts'

const WEB = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
        - name: web
          image: nginx:1
`

const show = (node: Node | undefined): string => {
  const { file, line, column, via } = node!.origin
  return [`${file}:${line}:${column}`, ...(via ?? []).map(step => `${step.step} ${step.file}:${step.line}`)].join(' < ')
}

/** Where the value at `path` of the first object was written. */
function originOf(files: Readonly<Record<string, string>>, path: Path): string {
  const [object] = build(treeOf({ 'web.yaml': WEB, ...files }), '', '')
  return show(at(object!.root, path))
}

const refusal = (files: Readonly<Record<string, string>>) =>
  refusalAt(() => build(treeOf({ 'web.yaml': WEB, ...files }), '', ''))

describe('a value points to who wrote it', () => {
  const IMAGE: Path = ['spec', 'template', 'spec', 'containers', 0, 'image']

  test('the field of a kustomization', () => {
    const files = {
      'kustomization.yaml': `resources: [web.yaml]
images:
  - name: nginx
    newTag: "2"
replicas:
  - name: web
    count: 3
commonAnnotations:
  owner: us
`,
    }
    expect(originOf(files, IMAGE)).toBe('kustomization.yaml:4:13')
    expect(originOf(files, ['spec', 'replicas'])).toBe('kustomization.yaml:7:12')
    expect(originOf(files, ['metadata', 'annotations', 'owner'])).toBe('kustomization.yaml:9:10')
  })

  test('an object of transformers, in a file and in the kustomization itself', () => {
    const files = {
      'kustomization.yaml': `resources: [web.yaml]
transformers:
  - image.yaml
  - |
    apiVersion: builtin
    kind: LabelTransformer
    metadata:
      name: label
    labels:
      owner: us
    fieldSpecs:
      - path: metadata/labels
        create: true
`,
      'image.yaml': `apiVersion: builtin
kind: ImageTagTransformer
metadata:
  name: image
imageTag:
  name: nginx
  newTag: 2
`,
    }
    expect(originOf(files, IMAGE)).toBe('image.yaml:7:11 < transformer kustomization.yaml:3')
    expect(originOf(files, ['metadata', 'labels', 'owner'])).toBe('kustomization.yaml:10:14')
  })

  test('a label that is one value at several places', () => {
    const files = {
      'kustomization.yaml': 'resources: [base]\nlabels:\n  - pairs:\n      app: later\n',
      'base/kustomization.yaml': 'resources: [../web.yaml]\ncommonLabels:\n  app: first\n',
    }
    expect(originOf(files, ['spec', 'selector', 'matchLabels', 'app'])).toBe('kustomization.yaml:4:12')
  })
})

describe('what a builtin may not do is said before anything is built', () => {
  const transformer = (fields: string): Record<string, string> => ({
    'kustomization.yaml': 'resources: [missing.yaml]\ntransformers: [t]\n',
    't/kustomization.yaml': 'resources: [t.yaml]\n',
    't/t.yaml': `metadata:\n  name: t\n${fields}`,
  })
  const cases = {
    'apiVersion: example.com/v1\nkind: Anything\n': 'kustomize-unsupported kustomize-plugin @t/t.yaml:1',
    'apiVersion: builtin\nkind: PatchTransformer\npath: https://e/x\n':
      'kustomize-unsupported kustomize-remote-base @t/t.yaml:5',
    'apiVersion: builtin\nkind: PatchStrategicMergeTransformer\npaths:\n- git@e:x/y\n':
      'kustomize-unsupported kustomize-remote-base @t/t.yaml:6',
    'apiVersion: builtin\nkind: ReplacementTransformer\nreplacements:\n- path: https://e/x\n':
      'kustomize-unsupported kustomize-remote-base @t/t.yaml:6',
    'apiVersion: builtin\nkind: HelmChartInflationGenerator\n':
      'kustomize-unsupported kustomize-helm-inflate @t/t.yaml:1',
  }
  for (const [fields, expected] of Object.entries(cases)) {
    test(JSON.stringify(fields), () => expect(refusal(transformer(fields))).toBe(expected))
  }

  test('in a generator, too', () => {
    const files = {
      'kustomization.yaml': 'resources: [missing.yaml]\ngenerators: [g.yaml]\n',
      'g.yaml': 'apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata:\n  name: g\nenvs:\n- https://e/x\n',
    }
    expect(refusal(files)).toBe('kustomize-unsupported kustomize-remote-base @g.yaml:6')
  })
})

describe('what is refused of a builtin', () => {
  const refused = (fields: string): string =>
    refusal({
      'kustomization.yaml': 'resources: [web.yaml]\ntransformers: [t.yaml]\n',
      't.yaml': `apiVersion: builtin\nmetadata:\n  name: t\n${fields}`,
    })
  const cases = {
    'kind: ImageTagTransformer\nimageTag:\n  Name: nginx\n':
      'kustomize-unsupported kustomize-case-variant-key @t.yaml:6',
    'kind: LabelTransformer\nlabels:\n  a: 0.123456789\n': 'kustomize-unsupported @t.yaml:6',
    'kind: PatchJson6902Transformer\njsonOp: "[]"\n': 'kustomize-unsupported @t.yaml:1',
    'kind: ValueAddTransformer\ntargets:\n- fieldPath: metadata/labels/a\n': 'kustomize-unsupported @t.yaml:1',
    'kind: AnnotationsTransformer\nannotations:\n  config.kubernetes.io/index: "1"\nfieldSpecs:\n- path: metadata/annotations\n  create: true\n':
      'kustomize-unsupported @t.yaml:6',
    'kind: PrefixTransformer\nprefix: a-\n': 'kustomize-invalid @t.yaml:1',
    'kind: NamespaceTransformer\nsetRoleBindingSubjects: some\n': 'kustomize-invalid @t.yaml:5',
    'kind: ConfigMapGenerator\n': 'kustomize-invalid @t.yaml:1',
  }
  for (const [fields, expected] of Object.entries(cases)) {
    test(JSON.stringify(fields), () => expect(refused(fields)).toBe(expected))
  }

  test('the generator of a ServiceAccount', () => {
    const generator = 'apiVersion: builtin\nkind: IAMPolicyGenerator\nmetadata: {name: g}\ncloud: gke\n'
    const files = { 'kustomization.yaml': 'generators: [g.yaml]\n', 'g.yaml': generator }
    expect(refusal(files)).toBe('kustomize-unsupported @g.yaml:1')
  })

  test('annotations of what changed an object, and a patch that removes the one of where it came from', () => {
    const notes = (name: string, patch = '') => ({
      'kustomization.yaml': `resources: [web.yaml]\nbuildMetadata: [${name}]\n${patch}`,
    })
    expect(refusal(notes('transformerAnnotations'))).toBe('kustomize-unsupported @kustomization.yaml:2')
    const removing = 'patches:\n- target: {kind: .*}\n  patch: "- op: remove\\n  path: /metadata/annotations"\n'
    expect(refusal(notes('originAnnotations', removing))).toBe('kustomize-unsupported @kustomization.yaml:2')
    expect(refusal(notes('managedByLabel', removing))).toBe('done')
  })
})
