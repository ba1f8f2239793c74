import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BailiwickError } from '../../../src/base/errors.ts'
import { readCommandLine } from '../../../src/surface/command/command-line.ts'
import { parseOverride } from '../../../src/surface/command/record.ts'
import { parseWaive } from '../../../src/surface/command/waiver.ts'

function refusal(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof BailiwickError && error.code === 'command-input') return error.message
    throw error
  }
  throw new Error('was taken')
}

describe('the line', () => {
  test.each([
    ['/bailiwick help', 'help', ''],
    ['/bailiwick', '', ''],
    ['/bailiwick  \t hold \t', 'hold', ''],
    ['/bailiwick override abc1234 the  gate', 'override', 'abc1234 the  gate'],
    ['/bailiwick check --all\r\n/bailiwick hold', 'check', '--all'],
    ['/bailiwick waive x y\nmore', 'waive', 'x y'],
    ['/bailiwick HOLD', 'HOLD', ''],
  ])('%j', (comment, verb, rest) => {
    expect(readCommandLine(comment)).toMatchObject({ verb, rest })
  })

  test.each([
    '',
    'hello',
    '> /bailiwick hold',
    ' /bailiwick hold',
    '\n/bailiwick hold',
    'see\n/bailiwick hold',
    '/bailiwicked',
    '/Bailiwick hold',
    '`/bailiwick hold`',
    '- /bailiwick hold',
    '\u200b/bailiwick hold',
  ])('%j is none', comment => {
    expect(readCommandLine(comment)).toBeUndefined()
  })

  test('a comment of 65,536 characters is read in no time, whatever it holds', () => {
    for (const tail of [' '.repeat(65_000), 'x '.repeat(32_000), '\t'.repeat(65_000)]) {
      const started = performance.now()
      readCommandLine(`/bailiwick ${tail}!`)
      expect(performance.now() - started).toBeLessThan(200)
    }
  })

  test('whatever is written, words are words of the first line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), rest => {
        const line = readCommandLine(`/bailiwick ${rest}`)
        const first = rest.split(/\r?\n/)[0] ?? ''
        for (const word of line?.words ?? []) expect(first).toContain(word)
      }),
    )
  })
})

describe('override', () => {
  test.each([
    ['the gate is broken', undefined, 'the gate is broken'],
    ['1234567 fine', '1234567', 'fine'],
    ['ABCDEF1 fine', 'abcdef1', 'fine'],
    ['defaced page', undefined, 'defaced page'],
    ['123456 is no sha', undefined, '123456 is no sha'],
    [`${'a1'.repeat(20)} all of it`, 'a1'.repeat(20), 'all of it'],
  ])('%j', (rest, sha, reason) => {
    expect(parseOverride(rest.split(' '))).toEqual(sha === undefined ? { reason } : { sha, reason })
  })

  test('needs a reason, and no novel', () => {
    for (const words of [[], [''], ['abc1234'], ['!!', '12']]) {
      expect(refusal(() => parseOverride(words))).toContain('reason is needed')
    }
    expect(refusal(() => parseOverride(Array(200).fill('word')))).toContain('300 characters')
  })

  test('shows what hides in a reason', () => {
    expect(parseOverride(['fine\u202e', 'x']).reason).toBe('fine\\u{202e} x')
  })
})

describe('waive', () => {
  const today = '2026-11-21'
  const waive = (rest: string) => parseWaive(rest.split(' '), today)

  test.each([
    ['pod-security it moves', 'pod-security', '2026-12-21', 'it moves'],
    ['abc123 --until 2027-02-19 it moves', 'abc123', '2027-02-19', 'it moves'],
    ['abc123 --until=2026-11-21 it moves', 'abc123', '2026-11-21', 'it moves'],
    ['abc123 we wait --until then', 'abc123', '2026-12-21', 'we wait --until then'],
  ])('%j', (rest, target, until, reason) => {
    expect(waive(rest)).toEqual({ target, until, reason })
  })

  test.each([
    ['', 'neither a rule nor a finding'],
    ['--until 2026-12-01 x why', 'is missing'],
    ['Pod-Security why', 'neither a rule nor a finding'],
    ['`x` why', 'neither a rule nor a finding'],
    ['pod-security', 'reason is needed'],
    ['pod-security --until 2026-12-01', 'reason is needed'],
    ['pod-security --until', 'not a date'],
    ['pod-security --until tomorrow why', 'not a date'],
    ['pod-security --until 2026-02-30 why', 'not a date'],
    ['pod-security --until 2026-11-20 why', 'is in the past'],
    ['pod-security --until 2027-02-20 why', 'more than 90 days'],
    ['pod-security --until 9999-12-31 why', 'more than 90 days'],
    ['pod-security --forever why', 'unknown option'],
  ])('%j is refused', (rest, said) => {
    expect(refusal(() => waive(rest))).toContain(said)
  })
})
