import { expect, test } from 'vitest'
import { type Json, type MapNode, toJson } from '../../../../src/kube/node.ts'
import catalog from '../../../../src/schema/custom/catalog.json' with { type: 'json' }
import { acceptsCustom } from '../../../../src/schema/custom/check-custom.ts'
import { checkRules } from '../../../../src/schema/custom/check-rules.ts'
import { schemaOf, withDefaults } from '../../../../src/schema/custom/custom-schema.ts'
import { CustomWalk } from '../../../../src/schema/custom/custom-walk.ts'
import {
  type CustomVersion,
  definitionIn,
  definitionOf,
  type PackedVersion,
} from '../../../../src/schema/custom/definition.ts'
import { unpack } from '../../../../src/schema/types-table.ts'
import { mutants, someMutants } from '../mutants.ts'
import { ACCEPTED, REFUSED } from './cases.ts'
import { mutated, randomOf, randomValue, textsIn } from './random-object.ts'
import { rootOf, WIDGET, WIDGETS } from './widget.ts'

type JsonMap = Record<string, Json>
type Group = Readonly<Record<string, Readonly<Record<string, PackedVersion>>>>

/** What the walks find that name what is wrong. */
function slowly(root: MapNode, version: CustomVersion) {
  const object = withDefaults(root, version.schema)
  const walk = new CustomWalk()
  walk.value(object, version.schema, true)
  let rules = 0
  const hear = () => {
    rules += 1
  }
  checkRules(object, version, undefined, { problem: hear, notEvaluated: hear })
  return { shape: walk.count + walk.undecided, rules }
}

type Count = Record<'valid' | 'ruled' | 'unsure' | 'wrong', number>

function compare(json: Json, version: CustomVersion, count: Count): void {
  const root = rootOf(JSON.stringify(json))
  const [quick, slow] = [acceptsCustom(root, version.schema), slowly(root, version)]
  count[quick] += 1
  if (slow.shape > 0) count.wrong += 1
  if (quick !== 'unsure') expect(slow.shape, `${quick} ${JSON.stringify(json)}`).toBe(0)
  if (quick === 'valid') expect(slow.rules, JSON.stringify(json)).toBe(0)
}

/** The rest of an object of a kind. */
const named = (json: JsonMap, apiVersion: string, kind: string): JsonMap => ({
  ...json,
  apiVersion,
  kind,
  metadata: { name: 'a', labels: { a: 'b' } },
})

const widgets = definitionOf(rootOf(WIDGETS))!.version('v1')!

/** Keys of lists that come from defaults are left to the other walk. */
const written = (text: string) => text.replace('{name: x},', '{name: x, zone: a},')

test('most widgets that an API server takes are accepted', () => {
  expect(acceptsCustom(rootOf(written(WIDGET)), widgets.schema)).toBe('valid')
  const unsure = ACCEPTED.filter(([, text]) => acceptsCustom(rootOf(written(text)), widgets.schema) === 'unsure')
  expect(unsure.length).toBeLessThan(ACCEPTED.length / 4)
})

test('what is accepted has no problem, in changed widgets', () => {
  const count: Count = { valid: 0, ruled: 0, unsure: 0, wrong: 0 }
  for (const text of [WIDGET, ...ACCEPTED.map(([, one]) => one), ...REFUSED.map(([, one]) => one)]) {
    const json = toJson(rootOf(written(text))) as JsonMap
    compare(json, widgets, count)
    for (const { changed } of mutants(json)) {
      compare(changed, widgets, count)
      const sealed = JSON.stringify(changed).replace('"word"', '"ENC[AES256_GCM,data:x]"')
      if (!sealed.includes('"word"')) compare(JSON.parse(sealed) as Json, widgets, count)
    }
  }
  expect(count.wrong).toBeGreaterThan(500)
  expect(count.valid + count.ruled).toBeGreaterThan(300)
})

test('what is accepted has no problem, in random objects of every kind of the catalog', () => {
  const count: Count = { valid: 0, ruled: 0, unsure: 0, wrong: 0 }
  let seed = 0
  for (const [group, text] of Object.entries(catalog.groups))
    for (const [kind, versions] of Object.entries(unpack<Group>(text)))
      for (const [name, [schema]] of Object.entries(versions)) {
        const version = definitionIn(`${group}/${kind}`, versions).version(name)!
        const words = textsIn(schema)
        const random = randomOf(seed++)
        const make = () => randomValue(random, schemaOf(schema), words) as JsonMap | undefined
        const [first, second, third] = [make(), make(), make()]
        if (!first || !second || !third) continue
        const objects = [first, second, third, mutated(random, first, second) as JsonMap]
        for (const one of objects) {
          const whole = named(one, `${group}/${name}`, kind)
          compare(whole, version, count)
          for (const { changed } of someMutants(whole, seed, 3)) compare(changed, version, count)
        }
      }
  expect(count.wrong).toBeGreaterThan(500)
  expect(count.valid).toBeGreaterThan(500)
  expect(count.ruled).toBeGreaterThan(50)
  // few valid objects are compared twice
  expect(count.unsure - count.wrong).toBeLessThan(count.valid / 4)
})

const DEFAULT = { type: 'string', default: 'x' }
const KEYS = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name', 'zone'] }
const RULE = { 'x-kubernetes-validations': [{ rule: 'false' }] }

test.each<[what: string, spec: JsonMap, value: Json]>([
  ['one field too many', { maxProperties: 1, properties: { a: DEFAULT, b: DEFAULT } }, { b: 'y' }],
  ['an alternative', { properties: { a: DEFAULT }, not: { required: ['a'] } }, {}],
  ['one of two', { properties: { a: DEFAULT, b: DEFAULT }, oneOf: [{ required: ['a'] }, { required: ['b'] }] }, {}],
  ['a default of another type', { properties: { a: { type: 'integer', default: 'x' } } }, {}],
  ['a default of another word', { properties: { a: { ...DEFAULT, enum: ['y'] } } }, {}],
  ['a rule of a default', { properties: { a: { type: 'object', default: {}, ...RULE } } }, {}],
  [
    'a rule below a default',
    { properties: { a: { type: 'object', default: { b: 'x' }, properties: { b: { type: 'string', ...RULE } } } } },
    {},
  ],
  ['a rule of a plain text', { properties: { a: { type: 'string', ...RULE } } }, { a: 'x' }],
  ['null that a default replaces', { properties: { a: { ...DEFAULT, enum: ['y'] } } }, { a: null }],
  [
    'keys that are alike',
    {
      properties: {
        list: {
          type: 'array',
          ...KEYS,
          items: { type: 'object', properties: { name: { type: 'string' }, zone: DEFAULT } },
        },
      },
    },
    { list: [{ name: 'a' }, { name: 'a', zone: 'x' }] },
  ],
])('what a default changes is not valid for certain: %s', (_what, spec, value) => {
  const schema: Json = { type: 'object', properties: { spec: { type: 'object', ...spec } } }
  const version = definitionIn('example.com/Thing', { v1: [schema, false] }).version('v1')!
  const root = rootOf(JSON.stringify(named({ spec: value }, 'example.com/v1', 'Thing')))
  const { shape, rules } = slowly(root, version)
  expect(shape + rules).toBeGreaterThan(0)
  expect(acceptsCustom(root, version.schema)).toMatch(shape > 0 ? /unsure/ : /unsure|ruled/)
})
