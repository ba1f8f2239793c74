import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { addNamespace, addToList, removeField } from '../../../src/tenants/onboard/edit-kustomization.ts'

const path = 'kustomization.yaml'
const TEXT = `# who lives here
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: apps   # everybody
resources:
    - "../base/dev-team"   # the first

patches:
    - patch: |
        - op: add
          path: /a
      target:
        kind: X
`

describe('an edit changes one line', () => {
  test('a string at the end of a list', () => {
    const edited = addToList({ path, text: TEXT }, 'resources', '../base/ops-team')
    expect(edited).toBe(TEXT.replace('# the first\n', '# the first\n    - ../base/ops-team\n'))
  })

  test('a map behind a block scalar and a target', () => {
    expect(addToList({ path, text: TEXT }, 'patches', { path: 'x.yaml' })).toBe(`${TEXT}    - path: x.yaml\n`)
  })

  test('a list that is not there yet', () => {
    const text = 'resources:\n- a.yaml'
    expect(addToList({ path, text }, 'patches', { path: 'x.yaml' })).toBe(`${text}\npatches:\n- path: x.yaml\n`)
  })

  test('a file without a last line break', () => {
    expect(addToList({ path, text: 'resources:\n  - a' }, 'resources', 'b')).toBe('resources:\n  - a\n  - b\n')
  })

  test('a file with the line ends of Windows', () => {
    const text = 'resources:\r\n  - a\r\nnamespace: x\r\n'
    expect(addToList({ path, text }, 'resources', 'b')).toBe('resources:\r\n  - a\r\n  - b\r\nnamespace: x\r\n')
    expect(removeField({ path, text }, 'namespace')).toBe('resources:\r\n  - a\r\n')
  })

  test('a field taken out', () => {
    expect(removeField({ path, text: TEXT }, 'namespace')).toBe(TEXT.replace('namespace: apps   # everybody\n', ''))
    expect(removeField({ path, text: TEXT }, 'absent')).toBe(TEXT)
  })

  test('a namespace put before the resources', () => {
    const text = removeField({ path, text: TEXT }, 'namespace')
    expect(addNamespace({ path, text }, 'apps')).toBe(text.replace('resources:', 'namespace: apps\nresources:'))
  })
})

describe('what is written otherwise is still edited rightly', () => {
  test('a flow list', () => {
    const edited = addToList({ path, text: '# c\nresources: [a, b]\n' }, 'resources', 'c')
    // one line each, by which offboarding finds them
    expect(edited).toBe('# c\nresources:\n  - a\n  - b\n  - c\n')
  })

  test('a flow map', () => {
    const text = '{resources: [a], namespace: apps}\n'
    expect(parse(removeField({ path, text }, 'namespace'))).toEqual({ resources: ['a'] })
    expect(parse(addToList({ path, text }, 'resources', 'b'))).toEqual({ resources: ['a', 'b'], namespace: 'apps' })
  })

  test('an empty list', () => {
    expect(addToList({ path, text: 'resources: []\n' }, 'resources', 'b')).toBe('resources:\n  - b\n')
  })
})

test('what is no map is refused', () => {
  for (const text of ['', '- a\n', 'a: [\n', 'a: 1\na: 2\n', 'a: &x [b]\nresources: *x\n']) {
    expect(() => addToList({ path, text }, 'resources', 'b')).toThrow(
      expect.objectContaining({ code: 'onboard-layout' }),
    )
  }
})
