import fc from 'fast-check'
import { expect, test } from 'vitest'
import { table } from '../../../src/surface/cli/terminal.ts'

test('a table is as narrow as its cells', () => {
  expect(table(['A', 'LONG'], [['value', 'x'], ['y']])).toEqual(['A      LONG', 'value  x', 'y'])
})

test('the widest column gives way, at spaces', () => {
  expect(table(['A', 'B'], [['one', 'words that continue below']], 20)).toEqual([
    'A    B',
    'one  words that',
    '     continue below',
  ])
})

test('a name is broken only where the table has no other way to fit', () => {
  const rows = [['github-repositories-only', 'words that continue below']]
  expect(table(['A', 'B'], rows, 42)).toEqual([
    'A                         B',
    'github-repositories-only  words that',
    '                          continue below',
  ])
  expect(table(['A', 'B'], rows, 30)[1]).toBe('github-repositor  words that')
})

test('a word that alone is too long is broken', () => {
  expect(table(['A'], [['0123456789abcdef']], 12)).toEqual(['A', '0123456789ab', 'cdef'])
})

test('no line is longer than the width, and no character is lost', () => {
  const cell = fc.array(fc.stringMatching(/^[a-z/.:-]{1,40}$/), { maxLength: 30 }).map(words => words.join(' '))
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell, cell, cell), { maxLength: 8 }), rows => {
      const lines = table(['ONE', 'TWO', 'THREE', 'FOUR'], rows, 100)
      expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(100)
      const letters = (texts: readonly string[]) => [...texts.join('').replaceAll(' ', '')].sort().join('')
      expect(letters(lines)).toBe(letters(['ONETWOTHREEFOUR', ...rows.flat()]))
    }),
  )
})
