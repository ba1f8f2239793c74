import { expect, test } from 'vitest'
import { dependentsFirst } from '../../workers/apply/prune-run.ts'

const groups = (needs: Record<string, readonly string[]>) =>
  dependentsFirst(
    Object.keys(needs),
    key => key,
    key => needs[key]!,
  )

test('each comes before what it needs, and those that do not need each other come together', () => {
  expect(groups({ root: [], a: ['root'], b: ['root', 'a', 'elsewhere'], c: ['root'] })).toEqual([
    ['b', 'c'],
    ['a'],
    ['root'],
  ])
})

test('a circle comes last, together, with what it needs', () => {
  expect(groups({ root: [], a: ['b', 'root'], b: ['a'], free: [], self: ['self'] })).toEqual([
    ['free', 'self'],
    ['root', 'a', 'b'],
  ])
})

test('a chain of 20,000 is no problem', () => {
  const chain = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`${index}`, [`${index - 1}`]]))
  expect(groups(chain).length).toBe(20_000)
})
