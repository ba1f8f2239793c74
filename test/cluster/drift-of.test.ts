import { expect, test } from 'vitest'
import { driftOf } from '../../src/cluster/server-side-apply.ts'
import type { Json } from '../../src/kube/node.ts'
import { DriftLog } from '../../workers/apply/cluster-memory.ts'

const entry = (manager: string, fieldsV1: Json, more: { operation?: string; subresource?: string } = {}): Json => ({
  ...{ manager, operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 },
  ...more,
})
const object = (content: { readonly [key: string]: Json }, managedFields: Json[] = []): Json => ({
  metadata: { name: 'web', managedFields, resourceVersion: String(Math.random()) },
  ...content,
})

test('which fields, and who has them; not who has others, nor who writes the status', () => {
  const managers = [
    entry('kubectl-edit', { 'f:spec': { 'f:replicas': {} } }),
    entry('hpa', { 'f:spec': { 'f:paused': {} } }),
    entry('kubelet', { 'f:spec': { 'f:replicas': {} } }, { subresource: 'status' }),
    entry('kustomize-controller', { 'f:spec': { 'f:replicas': {} } }, { operation: 'Apply' }),
  ]
  const live = object({ spec: { replicas: 5, paused: true, same: 1 }, status: { ready: 5 } }, managers)
  const dry = object({ spec: { replicas: 1, paused: true, same: 1 }, status: { ready: 1 } })
  expect(driftOf(live, dry)).toEqual({ fields: ['spec.replicas'], managers: ['kubectl-edit'] })
})

test('items of lists, labels and what is missing', () => {
  const managers = [entry('me', { 'f:spec': { 'f:containers': { 'k:{"name":"web"}': { 'f:image': {} } } } })]
  const live = object({ spec: { containers: [{ name: 'web', image: 'b' }] } }, managers)
  const dry = object({
    metadata: { labels: { a: 'b' } },
    spec: { containers: [{ name: 'web', image: 'a' }, { name: 'x' }] },
  })
  expect(driftOf(live, dry)).toEqual({
    fields: ['metadata.labels.a', 'spec.containers[0].image', 'spec.containers[1]'],
    managers: ['me'],
  })
})

test('never a value, and never more than ten fields', () => {
  const data = (value: string) =>
    Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`key-${at}`, `${value}-${at}`]))
  const found = driftOf(
    object({ kind: 'Secret', data: data('hunter2') }),
    object({ kind: 'Secret', data: data('other') }),
  )
  expect(found.fields).toHaveLength(10)
  expect(JSON.stringify(found)).not.toMatch(/hunter2|other/)
})

test('a thousand levels, and names that objects inherit', () => {
  let [deep, other]: Json[] = [1, 2]
  for (let at = 0; at < 1000; at++) [deep, other] = [{ a: deep! }, { a: other! }]
  expect(driftOf(object({ spec: deep! }), object({ spec: other! })).fields).toHaveLength(1)
  const live = object({ data: { constructor: 'a' } }, [entry('me', { 'f:data': {} })])
  expect(driftOf(live, object({ data: {} }))).toEqual({ fields: ['data.constructor'], managers: [] })
})

test('the same correction is counted; the list is bounded, the latest first', () => {
  let now = 0
  const log = new DriftLog(() => now)
  const id = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'apps', name })
  const changed = (name: string) => ({
    object: id(name),
    action: 'configured' as const,
    drift: { fields: ['data.a'], managers: ['me'] },
  })
  log.note('n', [changed('a')])
  now = 60_000
  log.note('n', [{ object: id('b'), action: 'created' }])
  log.note('n', [changed('a')])
  expect(log.notes).toMatchObject([
    {
      object: id('a'),
      change: 'changed',
      count: 2,
      first: '1970-01-01T00:00:00.000Z',
      last: '1970-01-01T00:01:00.000Z',
    },
    { object: id('b'), change: 'deleted', count: 1, fields: [], managers: [] },
  ])
  for (let at = 0; at < 500; at++) log.note('n', [changed(`many-${at}`)])
  expect(log.notes).toHaveLength(200)
  expect(log.notes[0]!.object.name).toBe('many-499')
})
