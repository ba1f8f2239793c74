import { describe, expect, test } from 'vitest'
import { openSnapshot, packSnapshot, type SnapshotFile } from '../../src/git/tree.ts'
import { originAt, stringAt } from '../../src/kube/node.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { build } from '../../src/kustomize/pipeline/build.ts'
import { refusalAt, refusalOf } from '../repository/runner/refusal-of.ts'

function built(kustomization: string, others: readonly SnapshotFile[] = []): KubeObject {
  const files = [{ path: 'kustomization.yaml', content: kustomization }, ...others]
  return build(openSnapshot(packSnapshot(files)), '', '')[0]!
}

const refusal = (kustomization: string, others: readonly SnapshotFile[] = []) =>
  refusalAt(() => built(kustomization, others))

function place(object: KubeObject, ...path: string[]): string {
  const { file, line, via } = originAt(object.root, path)
  return [`${file}:${line}`, ...(via ?? []).map(step => `${step.step} ${step.file}:${step.line}`)].join(' < ')
}

describe('a generated value stands where it was written', () => {
  const text =
    'generatorOptions:\n  labels: {team: a}\nconfigMapGenerator:\n- name: x\n  literals:\n  - a=1\n  envs: [e]\n  files: [f, b]\n'
  const object = built(text, [
    { path: 'e', content: '# note\nB=2\n' },
    { path: 'f', content: 'text' },
    { path: 'b', content: Buffer.from([0xff]) },
  ])
  test('a literal, an option, a name', () => {
    expect(place(object, 'data', 'a')).toBe('kustomization.yaml:6')
    expect(place(object, 'metadata', 'labels', 'team')).toBe('kustomization.yaml:2')
    expect(place(object, 'metadata', 'name')).toBe('kustomization.yaml:4')
  })
  test('a line of an env file and the files, through the generator', () => {
    expect(place(object, 'data', 'B')).toBe('e:2 < generator kustomization.yaml:4')
    expect(place(object, 'data', 'f')).toBe('f:1 < generator kustomization.yaml:4')
    expect(place(object, 'binaryData', 'b')).toBe('b:1 < generator kustomization.yaml:4')
  })
})

// compared with Flux's own build: 800 random texts of these characters, tabs and quotes, 0 different
test.each(['a\n\u2028b\n', '\u2029', ' a \u2028\n b\n\n', '\ufeff\u2028: "#'])(
  'keeps the line breaks of Unicode: %j',
  text => {
    const object = built('configMapGenerator:\n- name: x\n  files: [f]\n', [{ path: 'f', content: text }])
    expect(stringAt(object.root, ['data', 'f'])).toBe(text)
  },
)

describe('refused', () => {
  const secret = (field: string): string => `secretGenerator:\n- name: x\n  ${field}\n`
  test('what kustomize loses or changes', () => {
    const line = { path: 'f', content: `A=${'x'.repeat(70_000)}\nB=1\n` }
    expect(refusal(secret('envs: [f]'), [line])).toBe('kustomize-unsupported @f:1')
    for (const content of ['a\u0085b', 'a\u2028\tb']) {
      const rare = { path: 'f', content }
      expect(refusal('configMapGenerator:\n- name: x\n  files: [f]\n', [rare])).toBe('kustomize-unsupported @f:1')
    }
  })
  test('another spelling of a field', () => {
    expect(refusal(secret('Files: [f]'))).toBe('kustomize-unsupported kustomize-case-variant-key @kustomization.yaml:3')
  })
  test('a file that is not there, out of the repository, or more than a build may read', () => {
    expect(refusal(secret('files: [f]'))).toBe('kustomize-missing @kustomization.yaml:3')
    expect(refusal(secret('files: [../f]'))).toBe('kustomize-invalid kustomize-path-escape @kustomization.yaml:3')
    const large = { path: 'f', content: Buffer.alloc(17 * 1024 * 1024) }
    expect(refusal(secret('files: [f]'), [large])).toBe('render-limits @kustomization.yaml:3')
  })
  test('no value of a Secret is said', () => {
    const values = [{ path: 'f', content: 'TOKEN=hunter2\nTOKEN=hunter3\n' }]
    expect(String(refusalOf(() => built(secret('envs: [f]'), values)))).not.toContain('hunter')
  })
})
