import { expect, test } from 'vitest'
import { customStatus } from '../../../src/flux/kstatus/custom-status.ts'
import type { Json } from '../../../src/kube/node.ts'

const widget = (status: Json, generation = 1): Json => ({
  apiVersion: 'x.io/v1',
  kind: 'Widget',
  metadata: { name: 'a', namespace: 'apps', generation },
  status,
})
const rule = {
  apiVersion: 'x.io/v1beta1',
  kind: 'Widget',
  inProgress: "status.phase == 'Working'",
  failed: "status.phase == 'Broken'",
  current: "status.phase == 'Done'",
}
const said = (object: Json, rules: Parameters<typeof customStatus>[0] = [rule]) => customStatus(rules).status(object, 0)

test('asks in progress, failed and current in this order, whatever the version', () => {
  expect(said(widget({ phase: 'Working' }))).toMatchObject({ status: 'InProgress' })
  expect(said(widget({ phase: 'Broken' }))).toMatchObject({ status: 'Failed' })
  expect(said(widget({ phase: 'Done' }))).toMatchObject({ status: 'Current' })
  expect(said(widget({ phase: 'Other' }))).toMatchObject({ status: 'InProgress' })
  const both = { ...rule, failed: 'true', current: 'true' }
  expect(said(widget({ phase: 'Done' }), [both])).toMatchObject({ status: 'Failed' })
})

test('a generation that nobody observed is in progress, unless it is observed as something else than a number', () => {
  expect(said(widget({ phase: 'Done', observedGeneration: 1 }, 2))).toMatchObject({ status: 'InProgress' })
  expect(said(widget({ phase: 'Done', observedGeneration: 2 }, 2))).toMatchObject({ status: 'Current' })
  expect(said(widget({ phase: 'Done', observedGeneration: '1' }, 2))).toMatchObject({ status: 'Current' })
})

test('what cannot be worked out is unknown, and says why', () => {
  expect(said({ apiVersion: 'x.io/v1', kind: 'Widget', metadata: { name: 'a' } })).toEqual({
    status: 'Unknown',
    message: 'inProgress of healthCheckExprs: no such attribute(s): status',
  })
})

test('without a kind it decides about the group, and a kind of its own comes first', () => {
  const rules = [{ apiVersion: 'x.io/v1', kind: '', current: 'false' }, rule]
  expect(said({ apiVersion: 'x.io/v1', kind: 'Other' }, rules)).toMatchObject({ status: 'InProgress' })
  expect(said(widget({ phase: 'Done' }), rules)).toMatchObject({ status: 'Current' })
  expect(said({ apiVersion: 'y.io/v1', kind: 'Other' }, rules)).toMatchObject({ status: 'Current' })
})

test('a Job is always read as Flux reads it', () => {
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'a' } }
  const rules = [{ apiVersion: 'batch/v1', kind: 'Job', current: 'true' }]
  expect(said(job, rules)).toMatchObject({ status: 'InProgress', reason: 'JobNotStarted' })
  expect(customStatus(rules).decides(job)).toBe(false)
})
