import { expect, test } from 'vitest'
import type { Json } from '../../../src/kube/node.ts'
import { fitsDefault } from '../../../src/schema/core/fits-default.ts'
import { schemaOf } from '../../../src/schema/custom/custom-schema.ts'
import { defaultProblems } from '../../../src/schema/custom/default-problems.ts'
import { jsonNode } from '../../../src/schema/custom/json-node.ts'
import { rootOf } from '../custom/widget.ts'

const VALUES: readonly Json[] = [
  ...[
    '',
    'a',
    'AB',
    'fast',
    '5m',
    '1.2.3.4',
    'ENC[AES256_GCM,data:x]',
    true,
    false,
    0,
    1,
    -1,
    1.5,
    11,
    2 ** 31,
    2 ** 53,
  ],
  ...[[], ['a'], ['a', 'a'], [1], [null], {}, { a: 'x' }, { a: 1 }, { b: 'x' }, { a: 'x', b: null }, { a: { c: 1 } }],
  null,
]

const SCHEMAS: readonly { readonly [key: string]: Json }[] = [
  ...['string', 'boolean', 'integer', 'number', 'object', 'array', 'word', ''].map(type => ({ type })),
  {},
  { type: 'string', enum: ['a', 'fast'] },
  { type: 'integer', enum: ['1', 11] },
  { type: 'string', pattern: '^[a-z]+$' },
  { type: 'string', pattern: '(' },
  { type: 'string', format: 'ipv4' },
  { type: 'string', maxLength: 1, description: 'short' },
  { type: 'string', nullable: true, title: 'a', example: 3, default: 4 },
  { type: 'integer', format: 'int32', minimum: 1, maximum: 10 },
  { type: 'integer', format: 'int64' },
  { type: 'number', minimum: 1, exclusiveMinimum: true },
  { type: 'integer', 'x-kubernetes-int-or-string': true },
  { type: 'array', items: { type: 'string' } },
  { type: 'array', items: { type: 'string', enum: ['b'] }, 'x-kubernetes-list-type': 'set' },
  { type: 'array', items: { type: 'integer' }, minItems: 1 },
  { type: 'object', properties: { a: { type: 'string' } } },
  { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
  { type: 'object', properties: { a: { type: 'object', properties: { c: { type: 'integer' } } } }, required: ['b'] },
  {
    type: 'object',
    properties: { b: { type: 'string', default: 'x' } },
    'x-kubernetes-validations': [{ rule: 'false' }],
  },
  { type: 'object', properties: { a: { type: 'string', 'x-kubernetes-validations': [{ rule: 'false' }] } } },
  { type: 'object', additionalProperties: { type: 'string' } },
  { type: 'object', additionalProperties: true },
  { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  { type: 'object', minProperties: 1 },
  { type: 'string', not: { enum: ['a'] } },
  { type: 'string', anyOf: [{ enum: ['b'] }, { pattern: '^A' }] },
]

test('a default that fits for certain has no problem', () => {
  const count = { fitting: 0, wrong: 0, twice: 0 }
  for (const schema of SCHEMAS)
    for (const value of VALUES) {
      const what = JSON.stringify({ schema, value })
      const problems = defaultProblems(jsonNode(value), schemaOf(schema), ['default'])
      const fits = fitsDefault(jsonNode(value), rootOf(JSON.stringify(schema)))
      if (fits) expect(problems, what).toEqual([])
      if (problems.length > 0) count.wrong += 1
      else count[fits ? 'fitting' : 'twice'] += 1
    }
  expect(count.wrong).toBeGreaterThan(300)
  expect(count.fitting).toBeGreaterThan(40)
})

test.each([
  ['"a"', '{type: string, description: a word}'],
  ['fast', '{type: string, enum: [fast, slow]}'],
  ['abc', '{type: string, pattern: "^[a-z]+$"}'],
  ['3', '{type: integer, format: int32, minimum: 1, maximum: 10}'],
  ['true', '{type: boolean}'],
  ['{a: x}', '{type: object, required: [a], properties: {a: {type: string}, b: {type: integer, default: 1}}}'],
  ['[x, y]', '{type: array, items: {type: string}}'],
])('%s is compared quickly with %s', (value, schema) => {
  const root = rootOf(`{value: ${value}}`)
  expect(fitsDefault(root.fields.get('value')!.value, rootOf(schema))).toBe(true)
})
