import { expect, test } from 'vitest'
import { celCost } from '../../src/kube/cel-cost.ts'

test.each([
  ["status.conditions.filter(e, e.type == 'Ready').all(e, e.status == 'True')", 10],
  ["['Ready', 'Synced'].all(t, status.conditions.exists(c, c.type == t))", 20],
  ['status.a.all(x, status.b.all(y, status.c.all(z, x == z)))', 1000],
  ["'[1].all(x, [2].all(y, true))' == status.text", 1],
  ['status.observedGeneration == metadata.generation', 1],
  ['// [1,2].all(x, x.all(y, y))\nstatus.ready', 1],
])('%s takes %i steps', (text, steps) => {
  expect(celCost(text)).toEqual({ steps, buildsLists: false, isHuge: false })
})

test.each([
  "['a', 'b'].map(x, x + x).all(y, y.size() > 0)",
  'status.a.map(x, status.b.map(y, x + y)).size() > 0',
  '[1, 2].map(x, x)',
])('%s builds lists', text => {
  expect(celCost(text).buildsLists).toBe(true)
})

test('looks at hostile text once', () => {
  // what looked twice at each character would not end within the time that a test has
  for (const text of ['('.repeat(4000), '"\\'.repeat(1300), '[1].map(x,'.repeat(390), "'".repeat(3999)]) {
    expect(celCost(text)).toBeDefined()
  }
  expect(celCost('a'.repeat(5000))).toMatchObject({ isHuge: true })
})
