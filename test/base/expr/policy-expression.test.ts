import { expect, test } from 'vitest'
import { PolicyExpression } from '../../../src/expr/libraries/kubernetes-library.ts'
import {
  CelMap,
  type CelValue,
  fromJson,
  isList,
  NotKnown,
  Optional,
  typeOf,
  Unsigned,
} from '../../../src/expr/values.ts'
import type { Json } from '../../../src/kube/node.ts'
import answers from './kubernetes-answers.json' with { type: 'json' }

/** As tools/oracles/cel writes values. */
function shown(value: CelValue): string {
  if (value === null) return 'null'
  if (typeof value === 'string') {
    return JSON.stringify(value).replace(/[<>&]/g, char => `\\u00${char.charCodeAt(0).toString(16)}`)
  }
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (value instanceof Unsigned) return `${value.value}u`
  if (typeof value === 'number') return `d${value}`
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString('hex')}`
  if (value instanceof Optional) return value.value === undefined ? 'none' : `some(${shown(value.value)})`
  if (isList(value)) return `[${value.map(shown).join(',')}]`
  if (!(value instanceof CelMap)) return typeOf(value)
  return `{${[...value.entries.values()]
    .map(([key, one]) => `${shown(key)}:${shown(one)}`)
    .sort()
    .join(',')}}`
}

function ask(text: string, input: { readonly [name: string]: Json | NotKnown } = {}): string {
  const program = PolicyExpression.compile(text)
  if ('problem' in program) return `problem: ${program.problem}`
  const names = Object.entries(input).map(
    ([name, value]) => [name, value instanceof NotKnown ? value : fromJson(value)] as const,
  )
  const outcome = program.evaluate(new Map(names))
  if ('error' in outcome) return 'error'
  return 'value' in outcome ? shown(outcome.value) : `not evaluated: ${outcome.notEvaluated}`
}

test('the expressions of the tests of Kubernetes and cel-go have the answers of the API server of 1.36', () => {
  const different = answers.filter(([text, answer]) => ask(text!) !== answer)
  expect(different).toEqual([])
  expect(answers.length).toBeGreaterThan(450)
})

test('what depends on an unknown value is not evaluated, unless something else decides', () => {
  const input = { object: { a: 1 }, uid: new NotKnown('metadata.uid') }
  expect(ask('uid == "a"', input)).toBe('not evaluated: metadata.uid')
  expect(ask('uid == "a" || object.a == 1', input)).toBe('true')
  expect(ask('uid == "a" && object.a == 2', input)).toBe('false')
  expect(ask('[1, 2].exists(n, n == 2 || uid == "a")', input)).toBe('true')
  expect(ask('uid == "a" && object.b == 1', input)).toBe('not evaluated: metadata.uid')
})

test('a hostile expression costs a limited number of steps', () => {
  const input = { list: Array.from({ length: 20_000 }, (_, index) => index), text: 'a'.repeat(100_000) }
  const many = 'not evaluated: it takes more than 1000000 steps'
  for (const text of [
    "list.all(a, text.find('(a+)+$') != '')",
    "text.findAll('a*?').size() > 0 && list.all(a, text.findAll('[a-c]').size() > 0)",
    'list.all(a, list.sort().size() > 0)',
    'list.all(a, list.distinct().size() > 0)',
    'list.transformMap(i, v, list).all(k, v, v.all(w, w >= 0))',
    "list.all(a, '%s'.format([list]) != '')",
  ]) {
    expect([text, ask(text, input)]).toEqual([text, many])
  }
})

test('a text beyond what is worked out is neither yes nor no', () => {
  const many = (most: number) => `not evaluated: a text of more than ${most} characters`
  for (const [expression, made, most] of [
    ['isQuantity(text)', (length: number) => '1'.padStart(length, '0'), 500],
    ['isURL(text)', (length: number) => `https://a.example/${'a'.repeat(length - 18)}`, 20_000],
    ["duration(text) > duration('1s')", (length: number) => `${'1'.padStart(length - 1, '0')}h`, 100],
  ] as const) {
    expect([expression, ask(expression, { text: made(most) })]).toEqual([expression, 'true'])
    expect([expression, ask(expression, { text: made(most + 1) })]).toEqual([expression, many(most)])
  }
  expect(ask('isQuantity(text)', { text: '1e1001' })).toBe('not evaluated: a quantity with an exponent beyond 1000')
  expect(ask('isQuantity(text)', { text: 'a'.repeat(600) })).toBe('false')
})
