import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type ApplyResults,
  applyResultsText,
  parseApplyResults,
  RESULT_LIMITS,
} from '../../../src/cluster/channel/apply-results.ts'

const object = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'apps', name: 'settings' }
const node = { key: 'a/apps/web', user: 'u', outcome: 'applied' as const, objects: [] }
const note = {
  ...{ node: 'a/apps/web', object, change: 'changed' as const, fields: ['spec.replicas'], managers: ['kubectl'] },
  ...{ count: 2, first: '2026-01-01T00:00:00Z', last: '2026-01-01T00:01:00.5Z' },
}
const retry = { key: 'a/apps/web', at: '2026-01-01T00:00:00.000Z' }
const results: ApplyResults = {
  revisionSet: 's',
  isRunning: true,
  applied: [node],
  retries: [retry],
  drift: [note],
  failure: 'away',
}
const parse = (more: object) => parseApplyResults(JSON.stringify({ ...results, ...more }))
const AN_OBJECT = { object, action: 'unchanged' }
const times = <T>(count: number, one: T): T[] => Array<T>(count).fill(one)
const long = (length: number) => 'x'.repeat(length)

test('what a worker sends is read as it was', () => {
  expect(parseApplyResults(applyResultsText(results))).toEqual(results)
})

test('refused fields are sent without a line, which the web process looks up', () => {
  const place = { repository: 'https://github.com/acme/secret', file: 'x', line: 1 }
  const one = { object, action: 'refused' as const, message: 'no', fields: [{ field: 'data.key', place }] }
  const sent = parseApplyResults(applyResultsText({ ...results, applied: [{ ...node, objects: [one] }] }))
  expect(sent.applied[0]!.objects).toEqual([{ ...one, fields: [{ field: 'data.key' }] }])
})

test('what no field is named for is dropped: no line, no drift of an object, nothing inherited', () => {
  const place = { repository: 'https://github.com/acme/secret', file: 'x', line: 1 }
  const drift = { fields: ['x'], managers: ['y'] }
  const applied = [{ ...node, place, objects: [{ object, action: 'refused', place, drift, more: 1 }] }]
  expect(parse({ applied, more: 1 })).toEqual({
    ...results,
    applied: [{ ...node, objects: [{ object, action: 'refused' }] }],
  })
})

describe('each limit: as much is read, and one more is refused', () => {
  const { objects, nodes, drift, fields, managers, text, name } = RESULT_LIMITS
  const refused = (fields: object[]) => ({ applied: [{ ...node, objects: [{ ...AN_OBJECT, fields }] }] })
  test.each<[string, number, (count: number) => object]>([
    ['refused fields', fields, count => refused(times(count, { field: 'x' }))],
    ['a refused field', name, count => refused([{ field: long(count) }])],
    ['nodes', nodes, count => ({ applied: times(count, node) })],
    ['objects of one node', objects, count => ({ applied: [{ ...node, objects: times(count, AN_OBJECT) }] })],
    [
      'objects of two nodes',
      objects,
      count => ({ applied: [1, count - 1].map(size => ({ ...node, objects: times(size, AN_OBJECT) })) }),
    ],
    ['retries', nodes, count => ({ retries: times(count, retry) })],
    ['drift', drift, count => ({ drift: times(count, note) })],
    ['fields', fields, count => ({ drift: [{ ...note, fields: times(count, 'x') }] })],
    ['managers', managers, count => ({ drift: [{ ...note, managers: times(count, 'x') }] })],
    ['a field', name, count => ({ drift: [{ ...note, fields: [long(count)] }] })],
    ['a manager', name, count => ({ drift: [{ ...note, managers: [long(count)] }] })],
    ['a name', name, count => ({ drift: [{ ...note, object: { ...object, name: long(count) } }] })],
    ['a reason', text, count => ({ applied: [{ ...node, reason: long(count) }] })],
    ['a note', text, count => ({ applied: [{ ...node, note: long(count) }] })],
    ['a message', text, count => ({ applied: [{ ...node, objects: [{ ...AN_OBJECT, message: long(count) }] }] })],
    ['a failure', text, count => ({ failure: long(count) })],
    ['the revision set', 200, count => ({ revisionSet: long(count) })],
    ['the name in a key', 253, count => ({ applied: [{ ...node, key: `a/apps/${long(count)}` }] })],
  ])('%s: %d', (_what, most, make) => {
    expect(() => parse(make(most))).not.toThrow()
    expect(() => parse(make(most + 1))).toThrow(/^results/)
  })
})

test.each<[string, object]>([
  ['no word about a run that goes on', { isRunning: 'yes' }],
  ['no list of retries', { retries: undefined }],
  ['no list of drift', { drift: {} }],
  ['another change', { drift: [{ ...note, change: 'approved' }] }],
  ['a count below zero', { drift: [{ ...note, count: -1 }] }],
  ['a time with more behind it', { drift: [{ ...note, last: '2026-01-01T00:00:00Z"><script>' }] }],
  ['a time of another millennium', { retries: [{ ...retry, at: '+275760-09-13T00:00:00Z' }] }],
  ['a key with Markdown', { drift: [{ ...note, node: 'a/apps/[x](http://evil)' }] }],
  ['a key with a hidden character', { retries: [{ ...retry, key: 'a/apps/x\u202e' }] }],
  ['a key in a longer path', { applied: [{ ...node, key: 'a/apps/web/b' }] }],
  ['a key of no cluster', { applied: [{ ...node, key: '/apps/web' }] }],
])('refused whole: %s', (_what, more) => {
  expect(() => parse(more)).toThrow(/^results\./)
})

test('whatever a worker has to say, it sends only what is taken', () => {
  const anything = fc.string({ unit: 'grapheme', maxLength: 3_000 })
  const id = fc.record({ apiVersion: anything, kind: anything, namespace: anything, name: anything })
  const objects = fc.array(
    fc.record({ object: id, action: fc.constantFrom('created' as const, 'refused' as const), message: anything }),
    { maxLength: 20 },
  )
  const drift = fc.array(
    fc
      .record({ object: id, fields: fc.array(anything), managers: fc.array(anything) })
      .map(one => ({ ...note, ...one })),
    { maxLength: 5 },
  )
  fc.assert(
    fc.property(anything, anything, objects, drift, (reason, user, list, notes) => {
      const applied = [{ ...node, reason, user, note: reason, objects: list }]
      const sent = applyResultsText({ ...results, applied, drift: notes, failure: reason })
      expect(parseApplyResults(sent).applied[0]!.objects).toHaveLength(list.length)
    }),
    { numRuns: 60 },
  )
})

test('too many objects, or too long texts: what became of each node is sent, and how much was left out', () => {
  const refused = { object, action: 'refused' as const, message: long(30_000) }
  const big = { ...node, outcome: 'failed' as const, reason: long(30_000), objects: times(100, refused) }
  const many = Array.from({ length: 3_000 }, (_, at) => ({ ...big, key: `a/apps/n${at}` }))
  for (const applied of [many.slice(0, 5), many.slice(0, 1_500), many]) {
    const read = parseApplyResults(applyResultsText({ ...results, applied }))
    expect(read.applied).toHaveLength(applied.length)
    expect(read.applied.at(-1)!.outcome).toBe('failed')
    const kept = read.applied.at(-1)!.objects.length
    if (kept < 100)
      expect(read.applied.at(-1)!.note).toBe(`${100 - kept} of 100 objects are left out: the report would be too large`)
  }
})
