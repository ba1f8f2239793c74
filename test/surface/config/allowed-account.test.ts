import { expect, test } from 'vitest'
import { isAllowedAccount } from '../../../src/process/environment.ts'

test.each([
  ['acme', undefined, true],
  ['acme', [], false],
  ['ACME', ['acme'], true],
  ['acme-evil', ['acme'], false],
  ['acm', ['acme'], false],
  ['', ['acme'], false],
])('account %j with the list %j: %j', (account, allowed, expected) => {
  expect(isAllowedAccount(allowed, account)).toBe(expected)
})
