import { expect, test } from 'vitest'
import { ReportMemory } from '../../workers/apply/report-applied.ts'

const PACE = { firstMs: 3, everyMs: 15, driftMs: 600 }

test('a comment is written soon, then at most every so often; what is due already has the latest', () => {
  let now = 1000
  const memory = new ReportMemory(PACE, () => now)
  expect(memory.commentDelayMs('a')).toBe(3)
  expect(memory.commentDelayMs('a')).toBeUndefined()
  expect(memory.commentDelayMs('b')).toBe(3)
  now = 1004
  expect(memory.commentDelayMs('a')).toBe(14)
  now = 1017
  expect(memory.commentDelayMs('a')).toBeUndefined()
  now = 1100
  expect(memory.commentDelayMs('a')).toBe(3)
})

test('more drift alone waits longer, and does not keep another state waiting', () => {
  let now = 1000
  const memory = new ReportMemory(PACE, () => now)
  expect(memory.commentDelayMs('a', 'drift')).toBe(3)
  now = 1010
  expect(memory.commentDelayMs('a', 'drift')).toBe(593)
  expect(memory.commentDelayMs('a', 'drift')).toBeUndefined()
  expect(memory.commentDelayMs('a')).toBe(15)
  expect(memory.commentDelayMs('a')).toBeUndefined()
})
