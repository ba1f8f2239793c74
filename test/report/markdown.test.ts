import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { code, htmlCode, prose } from '../../src/base/markup.ts'
import { visible } from '../../src/base/visible.ts'
import { HOSTILE } from './samples.ts'

/** What CommonMark leaves outside of code spans: a run of backticks opens one that a run of the same length closes. */
function outsideOfCode(markdown: string): string {
  let out = ''
  let rest = markdown
  for (;;) {
    const open = /`+/.exec(rest)
    if (!open) return out + rest
    const after = rest.slice(open.index + open[0].length)
    const close = [...after.matchAll(/`+/g)].find(run => run[0].length === open[0].length)
    out += rest.slice(0, open.index) + (close ? '' : open[0])
    rest = close ? after.slice(close.index + close[0].length) : after
  }
}

const hostileText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom(
      '`',
      '``',
      '@',
      '#',
      '[',
      ']',
      '(',
      ')',
      '<',
      '>',
      '!',
      '|',
      '*',
      '_',
      '\\',
      '&',
      ' ',
      '\n',
      '\r',
      'a',
      '1',
      '.',
      '-',
      '+',
      '=',
      '~',
      ':',
      '/',
      '"',
      "'",
    ),
  }),
  fc
    .array(
      fc.constantFrom(
        'fixes',
        '#1',
        '@org/everyone',
        'GH-12',
        'https://evil.example',
        'www.evil.example',
        'a@b.example',
        '![x](y)',
        '<!-- -->',
        '```',
        '---',
        '1.',
        '-',
        'deadbeef',
        'and',
        '\u202e',
        'x`y',
        '`',
      ),
    )
    .map(words => words.join(' ')),
)

describe('no value can be more than text', () => {
  test('a code span stays one code span on one line', () => {
    fc.assert(
      fc.property(hostileText, value => {
        const span = code(value)
        expect(span).not.toMatch(/[\n\r|]/)
        expect(outsideOfCode(`a ${span} b`)).toBe('a  b')
      }),
      { numRuns: 2000 },
    )
  })

  test('outside of its code spans a sentence has only words', () => {
    fc.assert(
      fc.property(hostileText, value => {
        const out = outsideOfCode(prose(value))
        expect(out).toMatch(/^[A-Za-z0-9 .,;:!?…—–'()-]*$/)
        expect(out).not.toMatch(/(?:^|\s)[-+]\s|^\d+[.)]|GH-|www\.|https?:\/|[0-9a-f]{7}/i)
      }),
      { numRuns: 2000 },
    )
  })

  test('an HTML code element holds no tag, no entity of others and no line break', () => {
    fc.assert(
      fc.property(hostileText, value => {
        expect(htmlCode(value)).toMatch(/^<code>(?:[A-Za-z0-9 ./:_-]|&#\d+;)+<\/code>$/)
      }),
      { numRuns: 1000 },
    )
  })

  test('what cannot be seen is shown', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 50 }), value => {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
        expect(visible(value)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/)
      }),
      { numRuns: 2000 },
    )
    expect(visible('a\u202eb\u200bc\n')).toBe('a\\u{202e}b\\u{200b}c\\u{a}')
  })

  test('lengths are capped, and that is said', () => {
    expect(visible('x'.repeat(1_000_000), 10)).toBe('xxxxxxxxxx… (1000000 characters)')
    expect(code('`'.repeat(100_000)).length).toBeLessThan(700)
  })
})

test('ordinary sentences stay readable', () => {
  expect(prose('Deployment finance/web lies in namespace "finance", tenant ops-team may write to `ops` only.')).toBe(
    'Deployment `finance/web` lies in namespace `finance`, tenant ops-team may write to `ops` only.',
  )
  expect(prose('The account may do this (ClusterRole "edit", group "ops").')).toBe(
    'The account may do this (ClusterRole `edit`, group `ops`).',
  )
  expect(prose('1 violation in ops-team (production, staging)')).toBe('1 violation in ops-team (production, staging)')
  expect(outsideOfCode(prose(HOSTILE))).toMatch(/^[A-Za-z .]*$/)
})
