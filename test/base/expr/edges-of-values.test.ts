import { describe, expect, test } from 'vitest'
import { PolicyExpression } from '../../../src/expr/libraries/kubernetes-library.ts'

/** The value of an expression, `error`, or `? ` and why it is not known. */
function outcome(text: string): unknown {
  const expression = PolicyExpression.compile(text)
  if ('problem' in expression) return expression.problem
  const made = expression.evaluate(new Map())
  return 'value' in made ? made.value : 'error' in made ? 'error' : `? ${made.notEvaluated}`
}

describe('values at the edges, as a real API server reads them', () => {
  test.each([
    // a sign or a point without digits is zero
    ["isQuantity('.') && isQuantity('+') && quantity('-') == quantity('0')", true],
    ["isQuantity('')", false],
    ["quantity('1e000000000000000000003') == quantity('1k')", true],
    // what Go keeps as a decimal number is no integer
    ["quantity('1Ei').isInteger()", false],
    ["quantity('1Gi').isInteger()", true],
    ["quantity('1.0').isInteger()", false],
    ["quantity('9223372036854775807').asInteger()", 'error'],
    ["quantity('16Ei') == quantity('8Ei')", true],
    ["url('//a/b').getHost() == 'a'", true],
    ["isURL('*')", true],
    ["isURL('http://%41/')", false],
    ["isURL('http://%C3%A9/')", true],
    ["duration('1μs') == duration('1µs')", true],
    ["timestamp('0000-12-31T23:59:59Z')", 'error'],
    ["timestamp('9999-12-31T23:59:59Z') + duration('1s')", 'error'],
    ["string(timestamp('2026-01-31T12:00:00+14:00')) == '2026-01-31T12:00:00+14:00'", true],
    ["timestamp('2026-01-31T12:00:00,5Z') == timestamp('2026-01-31T12:00:00.5000000001Z')", true],
    ["timestamp('2026-01-31T12:00:00+24:00') == timestamp('2026-01-30T12:00:00Z')", true],
    ["timestamp('2026-01-31T12:00:00+25:00')", 'error'],
    ['0.0 / 0.0 > 1.0', 'error'],
    ["double('1_000') == 1000.0 && double('-Inf') < 0.0", true],
    ["double('1e400')", 'error'],
    ["int('00000000000000000000000000000000') == 0", true],
    ["'abc'.reverse() == 'cba'", 'error'],
    ['[1, 2].reverse() == [2, 1]', true],
  ])('%s', (text, expected) => {
    expect(outcome(text)).toBe(expected)
  })

  test('what is not read here is no answer, and no error that failurePolicy could let pass', () => {
    expect(outcome("double('0x1p-2')")).toBe('? a double in base 16')
    expect(outcome(`'a'.matches('${'a'.repeat(2_500)}')`)).toMatch(/^\? .*2000 characters/)
    expect(outcome("'a'.matches('(')")).toBe('error')
    expect(outcome('true || [1, 2][5].flatten().size() == 1')).toBe(true)
    expect(outcome('[[[1]][5]].flatten().size() == 1 || true')).toBe('? flatten() of an error: index out of bounds: 5')
  })
})

describe('what would cost the API server more than its limit is no answer', () => {
  const big = 'a'.repeat(19_000)
  const texts = (expression: string) => {
    const compiled = PolicyExpression.compile(expression)
    if ('problem' in compiled) throw new Error(compiled.problem)
    const names = new Map<string, string | string[]>([
      ['big', big.repeat(3)],
      ['same', `${big.repeat(3)}`.slice()],
      ['list', Array.from({ length: 2_000 }, () => big)],
    ])
    const outcome = compiled.evaluate(names)
    return 'value' in outcome ? outcome.value : 'notEvaluated' in outcome ? outcome.notEvaluated : 'error'
  }
  const LIMIT = 'it takes more than 1000000 steps'

  test.each([
    ['a long text in a long text', 'big.contains(same)', "big.contains('aaa')"],
    ['a long pattern and a long text', 'big.matches(same.substring(0, 900))', "big.matches('^a+$')"],
    ['the order of many long texts', 'list.all(one, one <= big)', 'list[0] <= big'],
    ['whether many long texts are equal', 'list.all(one, one == list[0])', "list.all(one, one != 'b')"],
  ])('%s', (_what, costly, cheap) => {
    expect(texts(costly)).toBe(LIMIT)
    expect(texts(cheap)).toBe(true)
  })
})
