import { expect, test } from 'vitest'
import type { Node } from '../../../src/kube/node.ts'
import { matchesScalar } from '../../../src/policy/kyverno/matches-scalar.ts'

const scalar = (value: string): Node => ({
  type: 'scalar',
  value,
  origin: { repository: '', file: '', line: 1, column: 1 },
})

test('a quantity or duration that is too long to compare is said, and is not another one', () => {
  expect(matchesScalar(scalar('!10Gi'), scalar('10Gi'.padStart(500, '0')))).toBe(false)
  expect(matchesScalar(scalar('!10Gi'), scalar('10Gi'.padStart(501, '0')))).toContain('more than 500 characters')
  expect(matchesScalar(scalar('!1h'), scalar('1h'.padStart(101, '0')))).toContain('more than 100 characters')
  expect(matchesScalar(scalar('!10Gi'), scalar('x'.repeat(501)))).toBe(true)
})
