import { expect, test } from 'vitest'
import { at, type Node, type Path } from '../../src/kube/node.ts'
import { build } from '../../src/kustomize/pipeline/build.ts'
import { treeOf } from '../base/git/tree-of.ts'

const show = (node: Node | undefined): string => {
  const { file, line, column, via } = node!.origin
  return [`${file}:${line}:${column}`, ...(via ?? []).map(step => `${step.step} ${step.file}:${step.line}`)].join(' < ')
}

const FILES = {
  'base/kustomization.yaml': `resources:
  # a comment
  - web.yaml
configMapGenerator:
  - name: gen
    literals:
      - a=1
`,
  'base/web.yaml': `# first
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: web
data:
  kept: one
  merged: two
  replaced: three
`,
  'overlay/kustomization.yaml': `resources:
  - ../base
namespace: team
labels:
  - pairs:
      owner: us
components:
  - ../component
patches:
  - path: patch.yaml
  - target:
      kind: ConfigMap
      name: web
    patch: |-

      # comment
      - op: replace
        path: /data/replaced
        value: patched
  - patch: |
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: web
      data:
        inline: yes-it-is
`,
  'overlay/patch.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: web
data:
  merged: changed
`,
  'component/kustomization.yaml': `apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
resources:
  - more.yaml
`,
  'component/more.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: more
`,
}

const [web, generated, more] = build(treeOf(FILES), 'https://example.com/fleet', 'overlay')
const place = (path: Path, object = web): string => show(at(object!.root, path))

test('a value that nobody changed stands where its file says', () => {
  expect(place(['data', 'kept'])).toBe('base/web.yaml:8:9')
  expect(place(['metadata', 'name'])).toBe('base/web.yaml:6:9')
  expect(at(web!.root, ['data', 'kept'])!.origin.repository).toBe('https://example.com/fleet')
})

test('a merged value stands in the patch file, through the entry of the overlay', () => {
  expect(place(['data', 'merged'])).toBe('overlay/patch.yaml:6:11 < patch overlay/kustomization.yaml:10')
})

test('a value of an inline JSON6902 patch stands at its own line of the overlay', () => {
  expect(place(['data', 'replaced'])).toBe('overlay/kustomization.yaml:19:16 < patch overlay/kustomization.yaml:11')
})

test('a value of an inline merge patch stands at its own line of the overlay', () => {
  expect(place(['data', 'inline'])).toBe('overlay/kustomization.yaml:26:17 < patch overlay/kustomization.yaml:20')
})

test('namespace and labels stand where the overlay says them', () => {
  expect(place(['metadata', 'namespace'])).toBe('overlay/kustomization.yaml:3:12')
  expect(place(['metadata', 'labels', 'owner'])).toBe('overlay/kustomization.yaml:6:14')
})

test('a generated value stands at its literal', () => {
  expect(place(['data', 'a'], generated)).toBe('base/kustomization.yaml:7:9')
  expect(place(['metadata', 'name'], generated)).toBe('base/kustomization.yaml:5:11')
})

test('the trail lists what an object passed, innermost first', () => {
  const shown = [web, generated, more].map(object =>
    object!.trail.map(step => `${step.step} ${step.file}:${step.line}`),
  )
  expect(shown).toEqual([
    [
      'resource base/kustomization.yaml:3',
      'resource overlay/kustomization.yaml:2',
      'component overlay/kustomization.yaml:8',
    ],
    [
      'generator base/kustomization.yaml:5',
      'resource overlay/kustomization.yaml:2',
      'component overlay/kustomization.yaml:8',
    ],
    ['resource component/kustomization.yaml:4', 'component overlay/kustomization.yaml:8'],
  ])
})
