import { expect, test } from 'vitest'
import { FIELD_MANAGER, fieldPrint, reowns } from '../../src/cluster/server-side-apply.ts'
import type { Json } from '../../src/kube/node.ts'

interface Manager {
  readonly manager: string
  readonly operation?: string
  readonly subresource?: string
  readonly fields: Json
}

function live(managers: readonly Manager[], metadata: { readonly [key: string]: Json } = {}): Json {
  const managedFields = managers.map(({ manager, operation = 'Apply', subresource, fields }) => ({
    manager,
    operation,
    ...(subresource === undefined ? {} : { subresource }),
    apiVersion: 'v1',
    time: new Date().toISOString(),
    fieldsV1: fields,
  }))
  return { metadata: { name: 'a', ...metadata, managedFields } }
}

const ours = { manager: FIELD_MANAGER, fields: { 'f:data': { 'f:key': {} } } }
const before = fieldPrint(live([ours]))

test.each<[string, Json]>([
  ['a field that somebody took from us', live([{ ...ours, fields: { 'f:data': {} } }])],
  ['all of our fields', live([])],
  [
    'a field that kubectl added, which an apply removes',
    live([ours, { manager: 'kubectl-edit', operation: 'Update', fields: {} }]),
  ],
  ["one of Flux's before server-side apply", live([ours, { manager: FIELD_MANAGER, operation: 'Update', fields: {} }])],
  ['a switch of Flux', live([ours], { annotations: { 'kustomize.toolkit.fluxcd.io/reconcile': 'disabled' } })],
  ['an owner label', live([ours], { labels: { 'kustomize.toolkit.fluxcd.io/name': 'other' } })],
  ['the annotation that gives it to us', live([ours], { annotations: { 'bailiwick.dev/adopt': 'apps/web' } })],
])('%s is another print', (_what, object) => {
  expect(fieldPrint(object)).not.toBe(before)
})

test.each<[string, Json]>([
  ['a field of another controller', live([ours, { manager: 'hpa', operation: 'Update', fields: { 'f:spec': {} } }])],
  ['status', live([ours, { manager: 'kubectl', operation: 'Update', subresource: 'status', fields: {} }])],
  ['other labels and a new version', live([ours], { labels: { team: 'a' }, resourceVersion: '7', generation: 3 })],
  ['a later time', live([ours])],
])('%s is the same print', (_what, object) => {
  expect(fieldPrint(object)).toBe(before)
})

test('an apply reowns what was changed and changed back, and nothing else', () => {
  const taken = live([{ ...ours, fields: { 'f:data': {} } }])
  expect(reowns(taken, live([ours]))).toBe(true)
  expect(reowns(live([ours]), live([ours]))).toBe(false)
  expect(reowns(live([ours]), live([ours, { manager: 'hpa', operation: 'Update', fields: {} }]))).toBe(false)
})
