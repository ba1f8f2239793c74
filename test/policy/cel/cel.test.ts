import { expect, test } from 'vitest'
import { evaluateCel, UNKNOWN } from '../../../src/policy/cel/evaluate-cel.ts'
import { parseCel } from '../../../src/policy/cel/parse-cel.ts'

const url = 'https://github.com/acme/app'
const names = new Map([
  ['object', { metadata: { namespace: 'apps' }, spec: { url, list: ['a', 'b'], n: 1 } }],
  ['params', { data: { urls: 'https://github.com/acme/,https://x/' } }],
])
const value = (text: string) => {
  const expression = parseCel(text)
  if (!expression) return 'not read'
  const found = evaluateCel(expression, names, () => {})
  return found === UNKNOWN ? 'unknown' : found
}

test.each([
  ["object.spec.url.startsWith('https://github.com/acme/')", true],
  ['object.spec.url.startsWith("https://evil/")', false],
  ["object.spec.url == 'x' || object.spec.url.endsWith('/app')", true],
  ["!object.spec.url.contains('evil') && object.spec.n == 1", true],
  ["object.spec['url'].matches('^https://github\\\\.com/acme/.+$')", true],
  ["object.spec.url.matches(r'^https://github[.]com/evil/.+$')", false],
  ["object.spec.url in ['a', 'b']", false],
  ["'a' in object.spec.list", true],
  ["params.data.urls.split(',').exists(one, object.spec.url.startsWith(one))", true],
  ["['https://x/'].all(one, object.spec.url.startsWith(one))", false],
  ["has(object.spec.ref) ? object.spec.ref == 'x' : true", true],
  ["has(object.spec.ref) && object.spec.ref == 'x'", false],
  ['size(object.spec.list) == 2', true],
  ["true || object.spec.missing == 'x'", true],
  ["object.spec.missing == 'x' || true", true],
  ['object.spec.url.lowerAscii() == object.spec.url', true],
])('%s is %s', (text, expected) => {
  expect(value(text)).toBe(expected)
})

test.each([
  "object.spec.missing == 'x'",
  'nobody.knows',
  "object.spec.url.matches('(a+)+$')",
  "object.spec.url.matches('(?i)x')",
  "object.spec.url.find('x') == ''",
  "authorizer.group('').check('x')",
  "object.__proto__ == 'x'",
])('%s is not known here', text => {
  expect(value(text)).toBe('unknown')
})

test.each(['object.?spec', '1 + 1 == 2', '{"a": 1}', 'a.b(', "'open", `${'('.repeat(100)}true${')'.repeat(100)}`])(
  '%s is not read here',
  text => {
    expect(value(text)).toBe('not read')
  },
)
