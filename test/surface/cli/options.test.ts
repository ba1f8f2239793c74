import { describe, expect, test } from 'vitest'
import { readGiven } from '../../../src/surface/cli/given.ts'

const AUDIT = {
  name: 'audit',
  usage: [
    ['[FLEET]', ''],
    ['[--cluster NAME]...', ''],
    ['[--strict]', ''],
    ['[-o text|json]', ''],
  ],
} as const
const parse = (...args: string[]) => readGiven(AUDIT, args)
const problem = (...args: string[]) => {
  try {
    parse(...args)
  } catch (error) {
    const { code, message, fix } = error as { code: string; message: string; fix: string }
    return [code, message, fix]
  }
  return []
}

test('options, flags and arguments', () => {
  const options = parse('--strict', '--cluster=a', '--cluster', 'b', '-ojson', '--', '--strict')
  expect([options.positionals, options.one('FLEET')]).toEqual([['--strict'], '--strict'])
  expect(options.all('cluster')).toEqual(['a', 'b'])
  expect([options.has('strict'), options.format]).toEqual([true, 'json'])
  expect([parse().has('strict'), parse().format]).toEqual([false, 'text'])
})

test('a value that begins with a dash belongs to its option only behind =', () => {
  expect(parse('--cluster=-a').one('cluster')).toBe('-a')
  expect(parse('--cluster', '-').one('cluster')).toBe('-')
})

const usage = 'usage: bailiwick audit [FLEET] [--cluster NAME]... [--strict] [-o text|json]'
describe('what is wrong, what is allowed, what to do', () => {
  test.each([
    [
      ['--clutser', 'a'],
      '--clutser is not an option of audit. Allowed: --cluster, --strict, --output',
      'Did you mean --cluster?',
    ],
    [['--quite'], '--quite is not an option of audit. Allowed: --cluster, --strict, --output', 'Did you mean --quiet?'],
    [['-x'], '-x is not an option of audit. Allowed: --cluster, --strict, --output', 'Run bailiwick help audit.'],
    [
      ['--constructor'],
      '--constructor is not an option of audit. Allowed: --cluster, --strict, --output',
      'Run bailiwick help audit.',
    ],
    [['--cluster'], '--cluster needs a value', usage],
    [
      ['--cluster', '--strict'],
      '--cluster needs a value, but "--strict" follows',
      'A value that begins with "-" is written --cluster=VALUE.',
    ],
    [['--cluster='], '--cluster is empty', usage],
    [['--strict=yes'], '--strict takes no value', usage],
    [['-o', 'jsn'], '-o "jsn" is not known. Allowed: text, json', 'Did you mean json?'],
    [['-o', 'xml\u001b[1m'], '-o "xml\\\\u{1b}[1m" is not known. Allowed: text, json', usage],
    [['-o', 'text', '-o', 'json'], '--output is given 2 times. Allowed: once', usage],
  ])('%j', (args, message, fix) => {
    expect(problem(...args)).toEqual(['usage', message, fix])
  })
})

test('a long usage line is not repeated', () => {
  const long = Array.from({ length: 10 }, (_, at) => [`[--option${at} VALUE]`, ''] as const)
  expect(() => readGiven({ name: 'check', usage: long }, ['--option1='])).toThrow(
    expect.objectContaining({ message: '--option1 is empty', fix: 'Run bailiwick help check.' }),
  )
})

const APPLY = {
  name: 'apply',
  usage: [
    ['plan|run', ''],
    ['TENANT', ''],
    ['[DIR]', ''],
    ['--cluster NAME', ''],
  ],
} as const
test.each([
  [[], 'plan|run is missing. Allowed: plan, run'],
  [['plna', 'a', '--cluster=c'], '"plna" is not known. Allowed: plan, run'],
  [['plan', '--cluster=c'], 'TENANT is missing'],
  [['plan', ''], 'TENANT is missing'],
  [['plan', 'a'], '--cluster is missing'],
  [['plan', 'a', 'b', 'c', '--cluster=c'], '"c" is an extra argument'],
  [['plan', 'a', '--cluster=c', '--cluster=d'], '--cluster is given 2 times. Allowed: once'],
])('arguments that a usage demands: %j', (args, message) => {
  expect(() => readGiven(APPLY, args)).toThrow(expect.objectContaining({ code: 'usage', message }))
})
