import { expect, test } from 'vitest'
import { readAddress } from '../../../src/kube/address/source-address.ts'
import { matchesAddress } from '../../../src/policy/kyverno/address-pattern.ts'
import { matchesWildcard } from '../../../src/policy/kyverno/jmespath/wildcard.ts'

const matches = (pattern: string, written: string, form: 'url' | 'image' | 'endpoint' = 'url') => {
  const address = readAddress(written, form)
  if (typeof address === 'string') throw new Error(address)
  return matchesAddress(pattern, address, form)
}

test.each([
  ['https://github.com/acme/?*', 'https://github.com/acme/app', true],
  ['https://github.com/acme/?*', 'https://github.com/ACME/app.git', true],
  ['https://github.com/acme/?*', 'ssh://git@github.com/acme/app', true],
  ['ssh://git@github.com:acme/?*', 'https://github.com/acme/app/', true],
  ['https://github.com/acme/?*', 'https://github.com/acme', false],
  ['https://github.com/acme/?*', 'https://github.com/acme-evil/app', false],
  ['https://github.com/acme*', 'https://github.com/acme/app', true],
  ['https://github.com/acme*', 'https://github.com/acme-evil/app', false],
  ['https://github.com/acme*', 'https://github.com/acmeevil/app', false],
  ['https://github.com/acme-*', 'https://github.com/acme-infra/app', true],
  ['https://github.com/*/app', 'https://github.com/x/app', true],
  ['https://github.com/*/app', 'https://github.com/x/y/app', false],
  ['https://*.acme.example/*', 'https://charts.acme.example', true],
  ['https://*.acme.example/*', 'https://evil.example/.acme.example/x', false],
  ['https://github.com*', 'https://github.com.evil.example/acme', false],
  ['https://github.com/acme/app', 'https://github.com/acme/app', true],
  ['https://github.com/acme/app', 'https://github.com/acme/app2', false],
  ['https://github.com/acme/?*', 'http://github.com/acme/app', false],
  ['oci://ghcr.io/acme/*', 'oci://ghcr.io/acme/charts/app', true],
])('%s stands for %s: %s', (pattern, written, expected) => {
  expect(matches(pattern, written)).toBe(expected)
})

test('images and endpoints', () => {
  expect(matches('ghcr.io/acme/*', 'ghcr.io/acme/app', 'image')).toBe(true)
  expect(matches('ghcr.io/acme/*', 'ghcr.io/evil/app', 'image')).toBe(false)
  expect(matches('*.acme.example', 's3.acme.example', 'endpoint')).toBe(true)
  expect(matches('*.acme.example', 's3.evil.example', 'endpoint')).toBe(false)
})

test('what is no address with wildcards is left to Kyverno', () => {
  expect(matches('*', 'https://github.com/acme/app')).toBeUndefined()
  expect(matches('https*', 'https://github.com/acme/app')).toBeUndefined()
})

test.each([
  ['*', '', true],
  ['a*b', 'axxb', true],
  ['a*b', 'axxbc', false],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['**a', 'ba', true],
  ['', 'a', false],
])('the wildcard %s matches %s: %s', (pattern, text, expected) => {
  expect(matchesWildcard(pattern, text)).toBe(expected)
})

test('a hostile pair takes no time', () => {
  const start = performance.now()
  expect(matchesWildcard(`${'a*'.repeat(200)}b`, 'a'.repeat(2000))).toBe(false)
  expect(performance.now() - start).toBeLessThan(20_000)
})
