import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ON_REDIS, SLOW } from './slow.ts'

test('every file that a list of vitest.config.ts names is there', () => {
  const root = join(import.meta.dirname, '../../..')
  expect([...SLOW, ...ON_REDIS].filter(file => !existsSync(join(root, file)))).toEqual([])
})
