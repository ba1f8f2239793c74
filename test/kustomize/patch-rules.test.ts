import { describe, expect, test } from 'vitest'
import { BailiwickError } from '../../src/base/errors.ts'
import { openSnapshot, packSnapshot } from '../../src/git/tree.ts'
import { canonical } from '../../src/kube/node.ts'
import { build } from '../../src/kustomize/pipeline/build.ts'

const OBJECT = 'apiVersion: e/v1\nkind: Thing\nmetadata: {name: a}\nspec: {n: 1}\n'

/** What comes out, or `code @file:line` of the refusal. */
function patched(patches: string, object = OBJECT): string {
  const files = [
    { path: 'kustomization.yaml', content: `resources: [a.yaml]\n${patches}` },
    { path: 'a.yaml', content: object },
  ]
  try {
    return build(openSnapshot(packSnapshot(files)), '', '')
      .map(built => canonical(built.root))
      .join()
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    return `${error.code} @${error.origin?.file}:${error.origin?.line}`
  }
}

const json = (operation: string): string => `patches:\n- target: {kind: Thing}\n  patch: |\n    - ${operation}\n`

describe('JSON6902', () => {
  test('an operation that would take the notes of kustomize along', () => {
    expect(patched(json('{op: copy, from: /metadata, path: /spec/m}'))).toBe(
      'kustomize-unsupported @kustomization.yaml:5',
    )
  })
  test('a test in JSON that compares how a number is written', () => {
    const text =
      'patches:\n- target: {kind: Thing}\n  patch: |\n    [{"op": "test", "path": "/spec/n", "value": 1.0}]\n'
    expect(patched(text)).toBe('kustomize-unsupported @kustomization.yaml:5')
  })
  test('a name that is no text, and none', () => {
    expect(patched(json('{op: replace, path: /metadata/name, value: 5}'))).toBe(
      'kustomize-unsupported @kustomization.yaml:5',
    )
    expect(patched(json('{op: remove, path: /kind}'))).toMatch(/^kustomize-invalid/)
  })
  test('an unknown operation matters only to an object', () => {
    expect(patched(json('{op: other, path: /spec}'))).toBe('kustomize-invalid @kustomization.yaml:5')
    expect(patched(json('{op: other, path: /spec}').replace('Thing', 'Nobody'))).toContain('"n":1')
  })
})

describe('strategic merge', () => {
  test('lists whose merge would cost too much', () => {
    const containers = Array.from({ length: 2_500 }, () => '{name: same}').join(', ')
    const pod = `apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [${containers}]}\n`
    const patch = 'patches:\n- patch: |\n    {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {x: 1}}\n'
    expect(patched(patch, pod)).toBe('render-limits @kustomization.yaml:4')
  })
  test('a comment that steers the merge, however many blanks follow it', () => {
    const patch = (comment: string) =>
      patched(
        `patches:\n- patch: |\n    apiVersion: e/v1\n    kind: Thing\n    metadata: {name: a}\n    spec: # ${comment}\n      x: 1\n`,
      )
    expect(patch('{"type":"object"}')).toMatch(/^yaml-ambiguous/)
    expect(patch(`{"type":"object"}${' '.repeat(100)}`)).toMatch(/^yaml-ambiguous/)
    expect(patch(`{nothing}${' '.repeat(100)}`)).toContain('"x":1')
  })
  // compared with kustomize: 156 builds with the comment at other places
  test.each([
    ['  # {"type":"object"}\n', /^yaml-ambiguous/],
    ['  # {"type":"object"}\n  # a\n', /^yaml-ambiguous/],
    ['  # a\n\n  # {"type":"object"}\n', /^yaml-ambiguous/],
    ['# a\n  # {"type":"object"}\n', /^yaml-ambiguous/],
    ['  # a\n  # {"type":"object"}\n', /"x":1/],
    ['  #\n  # {"type":"object"}\n  # b\n', /"x":1/],
  ])('a comment on lines of its own: %j', (comment, expected) => {
    const object = `apiVersion: e/v1\nkind: Thing\nmetadata: {name: a}\nspec:\n${comment}  x: 1\n`
    const patch = 'patches:\n- patch: |\n    {apiVersion: e/v1, kind: Thing, metadata: {name: a}, spec: {y: 1}}\n'
    expect(patched(patch, object)).toMatch(expected)
  })
  test('a field with an empty name ends the build, as in kustomize', () => {
    const patch = 'patches:\n- patch: |\n    {apiVersion: e/v1, kind: Thing, metadata: {name: a}, spec: {"": 1}}\n'
    expect(patched(patch)).toBe('kustomize-invalid @kustomization.yaml:4')
  })
  test('what a patch does not speak of is not made anew', () => {
    const tree = openSnapshot(
      packSnapshot([
        { path: 'a.yaml', content: OBJECT },
        {
          path: 'kustomization.yaml',
          content:
            'resources: [a.yaml]\npatches:\n- target: {kind: T.*}\n  patch: "{kind: Thing, metadata: {name: x}, added: 1}"\n',
        },
      ]),
    )
    const [object] = build(tree, '', '')
    expect(object!.root.fields.get('spec')!.value.origin).toMatchObject({ file: 'a.yaml', line: 4 })
    expect(object!.root.fields.get('added')!.value.origin).toMatchObject({ file: 'kustomization.yaml', line: 4 })
  })
})
