import { expect, test } from 'vitest'
import { PolicyExpression } from '../../../../src/expr/libraries/kubernetes-library.ts'
import { fromJson } from '../../../../src/expr/values.ts'

const url = 'https://github.com/acme/app'
const names = new Map([
  ['object', fromJson({ metadata: { namespace: 'apps' }, spec: { url, list: ['a', 'b'], n: 1 } })],
  ['params', fromJson({ data: { urls: 'https://github.com/acme/,https://x/' } })],
])
const value = (text: string) => {
  const expression = PolicyExpression.compile(text)
  if ('problem' in expression) return 'not read'
  const outcome = expression.evaluate(names)
  return 'value' in outcome ? outcome.value : 'error' in outcome ? 'error' : 'not evaluated'
}

test.each([
  ["object.spec.url.startsWith('https://github.com/acme/')", true],
  ['object.spec.url.startsWith("https://evil/")', false],
  ["object.spec.url == 'x' || object.spec.url.endsWith('/app')", true],
  ["!object.spec.url.contains('evil') && object.spec.n == 1", true],
  ["object.spec['url'].matches('^https://github\\\\.com/acme/.+$')", true],
  ["object.spec.url.matches(r'^https://github[.]com/evil/.+$')", false],
  ["object.spec.url.matches('(a+)+$')", false],
  ["object.spec.url.matches('(?i)GITHUB')", true],
  ["object.spec.url.find('git[a-z]+') == 'github'", true],
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
  ['object.?spec.hasValue()', true],
  ['1 + 1 == 2', true],
  ['{"a": 1}.a == 1', true],
])('%s is %s', (text, expected) => {
  expect(value(text)).toBe(expected)
})

test.each([
  "object.spec.missing == 'x'",
  'nobody.knows',
  "authorizer.group('').resource('x')",
  "object.__proto__ == 'x'",
])('%s is an error, as for the API server', text => {
  expect(value(text)).toBe('error')
})

test.each(['a.b(', "'open", `${'('.repeat(100)}true${')'.repeat(100)}`])('%s is not read', text => {
  expect(value(text)).toBe('not read')
})
