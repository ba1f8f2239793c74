import { describe, expect, test } from 'vitest'
import { parseOptions } from '../../../src/surface/cli/parse-options.ts'

const USAGE = 'audit [FLEET] [--cluster NAME] [--strict] [-o text|json]'
const parse = (...args: string[]) => parseOptions(args, ['cluster', 'output'], USAGE, ['strict'])
const problem = (...args: string[]) => {
  try {
    parse(...args).format(['text', 'json'])
  } catch (error) {
    const { code, message, fix } = error as { code: string; message: string; fix: string }
    return [code, message, fix]
  }
  return []
}

test('options, flags and arguments', () => {
  const options = parse('fleet', '--strict', '--cluster=a', '--cluster', 'b', '-ojson', '--', '--strict')
  expect(options.positionals).toEqual(['fleet', '--strict'])
  expect(options.all('cluster')).toEqual(['a', 'b'])
  expect([options.has('strict'), options.format(['text', 'json'])]).toEqual([true, 'json'])
  expect([parse().has('strict'), parse().format(['text', 'json'])]).toEqual([false, 'text'])
})

test('a value that begins with a dash belongs to its option only behind =', () => {
  expect(parse('--cluster=-a').one('cluster')).toBe('-a')
  expect(parse('--cluster', '-').one('cluster')).toBe('-')
})

const usage = `usage: bailiwick ${USAGE}`
describe('what is wrong, what is allowed, what to do', () => {
  test.each([
    [
      ['--clutser', 'a'],
      '--clutser is not an option of audit. Allowed: --cluster, --output, --strict',
      'Did you mean --cluster?',
    ],
    [['--quite'], '--quite is not an option of audit. Allowed: --cluster, --output, --strict', 'Did you mean --quiet?'],
    [['-x'], '-x is not an option of audit. Allowed: --cluster, --output, --strict', 'Run bailiwick help audit.'],
    [
      ['--constructor'],
      '--constructor is not an option of audit. Allowed: --cluster, --output, --strict',
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
    [['-o', 'jsn'], '-o "jsn" is not a format. Allowed: text, json', 'Did you mean json?'],
    [['-o', 'xml\u001b[1m'], '-o "xml\\\\u{1b}[1m" is not a format. Allowed: text, json', usage],
    [['-o', 'text', '-o', 'json'], '--output is given 2 times. Allowed: once', usage],
  ])('%j', (args, message, fix) => {
    expect(problem(...args)).toEqual(['usage', message, fix])
  })
})

test('a long usage line is not repeated', () => {
  const long = `check ${'[--option VALUE] '.repeat(10)}`
  expect(() => parseOptions(['--cluster='], ['cluster'], long)).toThrow(
    expect.objectContaining({ message: '--cluster is empty', fix: 'Run bailiwick help check.' }),
  )
})
