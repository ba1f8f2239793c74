import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withReadingTimes } from './with-reading-times.ts'

const page = readFileSync(join(import.meta.dirname, '../../../docs/tasks.md'), 'utf8')

test('the reading times of docs/tasks.md are those of its text (npm run pages)', () => {
  expect(page.match(/^\| \[\d+\. .* min \| \d+ s \| \d+ s \|/gm)).toHaveLength(12)
  expect(withReadingTimes(page)).toBe(page)
})

test('each started half minute of 200 words counts, comments do not, and the sums are of the rows', () => {
  const table = '| [1. A](#1-a) | ? | 2 s | 1 s | x |\n| [2. B](#2-b) | ? | 3 s | 2 s | x |\n| all | ? | ? | ? | |\n'
  const text = (words: number) => `${'word '.repeat(words)}<!-- not run: a comment -->\n`
  const rows = (a: number, b: number) =>
    withReadingTimes(`${table}\n## 1. A\n${text(a)}\n## 2. B\n${text(b)}`).split('\n')
  // the heading has two words
  expect(rows(98, 99).slice(0, 3)).toEqual([
    '| [1. A](#1-a) | 0.5 min | 2 s | 1 s | x |',
    '| [2. B](#2-b) | 1 min | 3 s | 2 s | x |',
    '| all | 1.5 min | 5 s | 3 s | |',
  ])
  expect(() => withReadingTimes('| [3. C](#3-c) | ? | 1 s | 1 s | x |')).toThrow('3. C')
})
