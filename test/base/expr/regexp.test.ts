import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { findMatches } from '../../../src/expr/libraries/texts.ts'
import { compilePattern, PatternError } from '../../../src/expr/regexp/compile-pattern.ts'

type Answer = readonly [pattern: string, text?: string, matches?: readonly (readonly string[])[]]

/** What Go 1.26 answered (Compile, FindAllStringSubmatch) to random patterns; those without matches are refused. */
const ANSWERS = readFileSync(new URL('answers-of-go-regexp.txt', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .flatMap(line => JSON.parse(`[${line}]`) as readonly Answer[])

test('finds what Go finds, and refuses what Go refuses', () => {
  for (const [pattern, text, matches] of ANSWERS) {
    if (text === undefined) {
      expect([pattern, problem(pattern)?.invalid]).toEqual([pattern, true])
      continue
    }
    const found = findMatches(pattern, text, Number.POSITIVE_INFINITY, () => undefined)
    expect([pattern, text, found.map(({ from, to }) => text.slice(from, to))]).toEqual([
      pattern,
      text,
      matches!.map(([all]) => all),
    ])
    expect([pattern, text, compilePattern(pattern).isIn(text)]).toEqual([pattern, text, matches!.length > 0])
  }
  expect(ANSWERS.length).toBeGreaterThan(250)
})

test.each(['\\p{Greek}', '[^\\p{Nope}]', '\\pc', 'a\\\\\\p{^Latin}'])(
  '%s may differ between releases of Go',
  pattern => {
    expect(problem(pattern)).toMatchObject({
      invalid: false,
      message: 'a Unicode class that is not a general category',
    })
  },
)

test('two groups of one name are two groups, as in Go', () => {
  const text = '(?P<n>a)(?<n>b)[(?<n>](\\Q(?<n>\\E)'
  const found = findMatches(text, 'ab<(?<n>', Number.POSITIVE_INFINITY, () => undefined)
  expect(found).toEqual([{ from: 0, to: 8 }])
  expect(problem('(?<n>a)(?<n>b)(?<n')).toMatchObject({ invalid: true })
})

test.each(['\\\\p{Greek}', '\\Q\\p{Greek}\\E', '\\p{^Lu}[\\PL\\p{Nd}]'])('%s has no such class', pattern => {
  expect(problem(pattern)).toBeUndefined()
})

test.each([
  ['(a+)+$', '!'],
  ['(a|aa)*c', ''],
  ['a*a*a*a*a*c', ''],
  ['(?:a?){300}a{300}b', ''],
  ['.*a.{300}b', ''],
])('%s is charged for what it takes', (pattern, end) => {
  const text = `${'a'.repeat(20_000)}${end}`
  const started = process.cpuUsage().user
  let work = 0
  findMatches(pattern, text, Number.POSITIVE_INFINITY, amount => {
    work += amount
  })
  expect(work).toBeGreaterThan((process.cpuUsage().user - started) / 100)
  expect(work).toBeGreaterThan(text.length)
})

function problem(pattern: string): PatternError | undefined {
  try {
    compilePattern(pattern)
    return undefined
  } catch (error) {
    if (error instanceof PatternError) return error
    throw error
  }
}
