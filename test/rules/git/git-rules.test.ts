import { describe, expect, test } from 'vitest'
import { MatchWork } from '../../../src/flux/source-ignore.ts'
import { findUnseen } from '../../../src/kube/yaml/parse-documents.ts'
import { problemOf } from '../../../src/rules/git/rendered-tree.ts'
import { fits, readAttributes } from '../../../src/rules/git/repository-files.ts'

const place = (line: number, column: number) => ({ repository: '', file: 'a.yaml', line, column })

describe('names of files', () => {
  test.each([
    '.git',
    '.GIT',
    '.git ',
    '.git.',
    'git~1',
    'GIT~2',
    '.git::$INDEX_ALLOCATION',
    '.g\u200cit',
    '\ufeff.git',
  ])('%j is the directory of git somewhere', name => expect(problemOf(name)).toContain("git's own directory"))

  test.each([
    '-x',
    '--enable-helm',
    '::error::x',
    'a\nb',
    'a\x1b[2K',
    'a\\b',
    '`id`',
    '$(id)',
    'a.',
    'a ',
    ' a',
    'KUSTOM~1.YAM',
  ])('%j means something else to somebody', name => expect(problemOf(name)).toBeDefined())

  test.each([
    '.gitignore',
    '.github',
    '.gitkeep',
    'README (1).md',
    'system:node.yaml',
    'größe.yaml',
    'a~b.yaml',
    'Makefile~',
    'v1.2.3',
    '_x',
    'a$b',
    'Icon\r',
  ])('%j is a name', name => expect(problemOf(name)).toBeUndefined())
})

describe('.gitattributes', () => {
  test('macros, quoted patterns and comments', () => {
    const text = '# c\n[attr]quiet -diff linguist-generated\n"a b/*.yaml" quiet\n*.bin binary\n'
    expect(readAttributes(text)).toEqual([
      { line: 3, pattern: 'a b/*.yaml', attributes: ['quiet', '-diff', 'linguist-generated'] },
      { line: 4, pattern: '*.bin', attributes: ['binary', '-diff', '-merge', '-text'] },
    ])
  })

  test('a name fits files of that name, not what is below a directory of it', () => {
    const work = new MatchWork(10_000)
    expect(fits('deploy', [], ['deploy', 'web.yaml'], work)).toBe(false)
    expect(fits('*.yaml', [], ['deploy', 'web.yaml'], work)).toBe(true)
    expect(fits('/deploy/**', [], ['deploy', 'a', 'web.yaml'], work)).toBe(true)
    expect(fits('web.yaml', ['deploy'], ['deploy', 'web.yaml'], work)).toBe(true)
    expect(fits('docs/**', [], ['deploy', 'web.yaml'], work)).toBe(false)
  })

  test('long lines cost no more than their length', () => {
    expect(readAttributes(`"${'\\a'.repeat(500_000)}\n${'a '.repeat(100_000)}\n`)).toHaveLength(2)
  })

  test('macros of macros end, and are an error', () => {
    const macros = Array.from(
      { length: 60 },
      (_, i) =>
        `[attr]m${i} a${i} ${Array(40)
          .fill(`m${i - 1}`)
          .join(' ')}`,
    )
    const many = Array.from({ length: 5_000 }, () => '* m59')
    expect(() => readAttributes([...macros, ...many].join('\n'))).toThrow('more than 200000 attributes')
  })
})

describe('characters that are not seen', () => {
  test('are found in comments and keys, and overrides in text blocks as well', () => {
    const text = 'a: b # \u202e\nc: |\n  \u2066x\u2069\n  \u202d\n"d\u200b": e\n'
    expect(findUnseen(text, place).map(({ character, origin }) => `${character} ${origin.line}`)).toEqual([
      'U+202E 1',
      'U+202D 4',
      'U+200B 5',
    ])
  })

  test('other languages and emoji have theirs', () => {
    expect(findUnseen('a: می‌خواهم\nb: 👩‍👩‍👧 שלום\u200f\n', place)).toEqual([])
  })

  test('long lines cost no more than their length', () => {
    const start = performance.now()
    findUnseen(`\u200b${': '.repeat(500_000)}|\n${' '.repeat(500_000)}\n`, place)
    expect(performance.now() - start).toBeLessThan(20_000)
  })
})
