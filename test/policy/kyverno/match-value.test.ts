import { expect, test } from 'vitest'
import { CelBudgetError } from '../../../src/cel/cel-error.ts'
import { matchesValue } from '../../../src/policy/kyverno/match-value.ts'

test('a quantity or duration that is too long to compare is said, and is not another one', () => {
  expect(matchesValue('!10Gi', '10Gi'.padStart(500, '0'))).toBe(false)
  expect(() => matchesValue('!10Gi', '10Gi'.padStart(501, '0'))).toThrow(CelBudgetError)
  expect(() => matchesValue('!1h', '1h'.padStart(101, '0'))).toThrow(CelBudgetError)
  expect(matchesValue('!10Gi', 'x'.repeat(501))).toBe(true)
})
