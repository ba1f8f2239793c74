import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { alternating } from './longest-first.ts'
import { ON_REDIS, SLOW } from './slow.ts'

test('every file that a list of vitest.config.ts names is there', () => {
  const root = join(import.meta.dirname, '../../..')
  expect([...SLOW, ...ON_REDIS].filter(file => !existsSync(join(root, file)))).toEqual([])
})

test('of quick and slow files some of each run at any time', () => {
  const seconds = { a: 4, b: 3, c: 1, W: 80, X: 40, Y: 40 }
  expect(alternating(['a', 'b', 'c'], ['W', 'X', 'Y'], one => seconds[one as 'a']).join('')).toBe('aWbXYc')
  expect(alternating(['a', 'b'], [], one => seconds[one as 'a'])).toEqual(['a', 'b'])
})
