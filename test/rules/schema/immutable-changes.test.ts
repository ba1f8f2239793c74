import { expect, test } from 'vitest'
import { idOf } from '../../../src/kube/object.ts'
import { sameQuantity } from '../../../src/schema/core/resources.ts'
import { immutableChanges } from '../../../src/schema/immutable-changes.ts'
import { rootOf } from './custom/widget.ts'
import { UPDATES } from './updates.ts'

const changed = (before: string, after: string) => {
  const root = rootOf(before)
  const { apiVersion, kind } = idOf({ root, trail: [] })
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
  return immutableChanges(`${group}/${kind}`, root, rootOf(after)).map(({ path }) => path.join('.'))
}

test.each(UPDATES)('%s', (_what, before, from, to, path) => {
  expect(before).toContain(from)
  expect(changed(before, before.replace(from, to))).toEqual(path === '' ? [] : [path])
  expect(changed(before, before)).toEqual([])
})

test('a definition keeps its kind and the version that it stores', () => {
  const crd = (kind: string, versions: string) =>
    `apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.example.com}\nspec: {names: {kind: ${kind}, plural: as}, versions: [${versions}]}\n`
  const [old, next] = ['{name: v1, storage: true}', '{name: v2, storage: true}']
  const demoted = '{name: v1, storage: false}'
  expect(changed(crd('A', old), crd('A', `${demoted}, ${next}`))).toEqual([])
  expect(changed(crd('A', `${demoted}, ${next}`), crd('A', next))).toEqual([])
  expect(changed(crd('A', old), crd('A', next))).toEqual(['spec.versions'])
  expect(changed(crd('A', old), crd('B', old))).toEqual(['spec.names.kind'])
})

test('what SOPS encrypted anew may be the same', () => {
  const secret = (data: string) =>
    `apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nimmutable: true\ndata: {a: '${data}'}\n`
  const sealed = (data: string) => secret(`ENC[AES256_GCM,data:${data},iv:aa,tag:bb,type:str]`)
  expect(changed(sealed('x'), sealed('y'))).toEqual([])
  expect(changed(secret('eA=='), secret('eQ=='))).toEqual(['data.a'])
})

test.each([
  ['1Gi', '1024Mi', true],
  ['1', '1000m', true],
  ['1.5', '1500m', true],
  ['1e3', '1k', true],
  ['1Gi', '1G', false],
  ['-1', '1', false],
  ['x', 'x', false],
  ['1e999', '1e-999', false],
])('the quantities %s and %s', (a, b, same) => {
  expect(sameQuantity(a, b)).toBe(same)
})
