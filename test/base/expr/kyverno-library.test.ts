import { expect, test } from 'vitest'
import { PolicyExpression } from '../../../src/expr/libraries/kubernetes-library.ts'
import { kyvernoLibrary } from '../../../src/expr/libraries/kyverno-library.ts'

function outcome(text: string): unknown {
  const made = PolicyExpression.compile(text, kyvernoLibrary)
  if ('problem' in made) return made
  const found = made.evaluate(new Map())
  return 'value' in found ? found.value : found
}

test.each([
  ['user.parseServiceAccount("system:serviceaccount:apps:a").Name', 'a'],
  ['parseImageReference("nginx").identifierWithSeparator()', ':latest'],
  ['"a".orValue("b")', 'a'],
  ['"aaa".find("a{1,2}?")', 'a'],
  ['"aaa".find("(?U)a+")', 'a'],
])('%s', (expression, expected) => {
  expect(outcome(expression)).toEqual(expected)
})

test.each([
  'random("[a-z]")',
  'x509.decode("a")',
  'sha256("a")',
  'math.round(2.5)',
  'json.unmarshal("1")',
  'yaml.parse("a: 1")',
  'regex.replace("banana", "a", "x")',
  'isIP("10.0.0.1")',
  'cidr("10.0.0.0/8").containsIP("10.0.0.1")',
  'semver("1.0.0").isLessThan(semver("2.0.0"))',
  'format.dns1123Label().validate("a")',
])('%s is not evaluated', expression => {
  expect(JSON.stringify(outcome(expression))).toMatch(/^\{"(?:problem|notEvaluated)":".* is not supported"/)
})
