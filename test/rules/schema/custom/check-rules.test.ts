import { describe, expect, test } from 'vitest'
import { checkCustom } from '../../../../src/schema/custom/check-custom.ts'
import { definitionOf } from '../../../../src/schema/custom/definition.ts'
import { rootOf } from './widget.ts'

/** A definition of one kind whose `spec` has the given schema. */
const kindWith = (spec: string, rootRules = '[]') => `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          x-kubernetes-validations: ${rootRules}
          properties:
            status: {type: object, properties: {ready: {type: boolean}}}
            spec: ${spec}
`
const gadget = (spec: string) =>
  `apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: g, labels: {a: b}}\nspec: ${spec}\n`

function answer(definition: string, spec: string, old?: string) {
  const before = old === undefined ? undefined : rootOf(gadget(old))
  return checkCustom(rootOf(gadget(spec)), definitionOf(rootOf(definition))!, { old: before })
}
const found = (definition: string, spec: string, old?: string) =>
  answer(definition, spec, old).problems.map(({ path, found }) => `${path.join('.')}: ${found}`)

const object = (fields: string, rule: string, more = '') =>
  kindWith(
    `{type: object, properties: {${fields}}, x-kubernetes-validations: [{rule: ${JSON.stringify(rule)}${more}}]}`,
  )

/** Of each what is refused, what is its benign twin, and the answer. */
const CASES: readonly (readonly [what: string, definition: string, refused: string, allowed: string, said: string])[] =
  [
    [
      'an integer and a number have the types of the schema',
      object(
        'a: {type: integer}, b: {type: number}',
        'type(self.a) == int && type(self.b) == double && self.b / 2.0 > 0.5',
      ),
      '{a: 3, b: 1}',
      '{a: 3, b: 2}',
      'spec: failed rule: type(self.a) == int && type(self.b) == double && self.b / 2.0 > 0.5',
    ],
    [
      'a number or a text is what it is',
      object(
        'p: {x-kubernetes-int-or-string: true}',
        "type(self.p) == int ? self.p > 0 : self.p.endsWith('%')",
        ", message: ' say it in percent '",
      ),
      '{p: half}',
      '{p: 50%}',
      'spec: say it in percent',
    ],
    [
      'a default is there before rules are asked',
      object('mode: {type: string, default: slow}, wait: {type: integer}', "self.mode != 'slow' || has(self.wait)"),
      '{}',
      '{wait: 1}',
      "spec: failed rule: self.mode != 'slow' || has(self.wait)",
    ],
    [
      'names that are no names of CEL are escaped',
      object(
        'a-b: {type: string}, c.d/e: {type: string}, namespace: {type: string}, x__y: {type: string}',
        'self.a__dash__b == self.c__dot__d__slash__e && self.__namespace__ == self.x__underscores__y',
      ),
      '{a-b: x, c.d/e: x, namespace: n, x__y: m}',
      '{a-b: x, c.d/e: x, namespace: n, x__y: n}',
      'spec: failed rule: self.a__dash__b == self.c__dot__d__slash__e && self.__namespace__ == self.x__underscores__y',
    ],
    [
      'keys of a map are as they are written',
      object(
        'm: {type: object, additionalProperties: {type: string}}',
        "self.m.all(k, k.startsWith('a-')) && 'a-b' in self.m",
      ),
      '{m: {b: x}}',
      '{m: {a-b: x}}',
      "spec: failed rule: self.m.all(k, k.startsWith('a-')) && 'a-b' in self.m",
    ],
    [
      'the order of a set does not count',
      object(
        's: {type: array, x-kubernetes-list-type: set, items: {type: string}}, t: {type: array, x-kubernetes-list-type: set, items: {type: string}}',
        'self.s == self.t && size(self.s + self.t) == size(self.s)',
      ),
      '{s: [a, b], t: [b, c]}',
      '{s: [a, b], t: [b, a]}',
      'spec: failed rule: self.s == self.t && size(self.s + self.t) == size(self.s)',
    ],
    [
      'times are times',
      object(
        'wait: {type: string, format: duration}, at: {type: string, format: date-time}',
        "self.wait <= duration('1h') && self.at.getFullYear() == 2026",
      ),
      '{wait: 61m, at: 2026-01-31T12:00:00Z}',
      '{wait: 60m, at: 2026-01-31T12:00:00Z}',
      "spec: failed rule: self.wait <= duration('1h') && self.at.getFullYear() == 2026",
    ],
    [
      'null in a field that may be null is no field',
      object('a: {type: string, nullable: true}', 'has(self.a)'),
      '{a: null}',
      "{a: ''}",
      'spec: failed rule: has(self.a)',
    ],
    [
      'an error is a refusal',
      object('a: {type: array, items: {type: integer}}', 'self.a[1] > 0'),
      '{a: [1]}',
      '{a: [1, 1]}',
      'spec: index out of bounds: 1 evaluating rule: self.a[1] > 0',
    ],
    [
      'a message that an expression makes, at the field that the rule names',
      object(
        'a: {type: integer}',
        'self.a < 3',
        ', fieldPath: .a, messageExpression: "\'not \' + string(self.a)", message: other',
      ),
      '{a: 3}',
      '{a: 2}',
      'spec.a: not 3',
    ],
    [
      'each item at its own place',
      kindWith(
        "{type: object, properties: {l: {type: array, items: {type: object, properties: {n: {type: integer}}, x-kubernetes-validations: [{rule: 'self.n > 0', message: small}]}}}}",
      ),
      '{l: [{n: 1}, {n: 0}]}',
      '{l: [{n: 1}, {n: 2}]}',
      'spec.l.1: small',
    ],
    [
      'values of a map',
      kindWith(
        "{type: object, properties: {m: {type: object, additionalProperties: {type: string, x-kubernetes-validations: [{rule: 'isURL(self)'}]}}}}",
      ),
      '{m: {x: nothing}}',
      "{m: {x: 'https://a.example.com'}}",
      'spec.m.x: failed rule: isURL(self)',
    ],
    [
      'rules under allOf, beside another rule',
      kindWith(
        "{type: object, properties: {a: {type: string}, b: {type: string, x-kubernetes-validations: [{rule: 'true'}]}}, allOf: [{properties: {a: {x-kubernetes-validations: [{rule: \"self != 'x'\"}]}}}]}",
      ),
      '{a: x}',
      '{a: y}',
      "spec.a: failed rule: self != 'x'",
    ],
    [
      'the metadata of an embedded object, and the fields that its schema has',
      kindWith(
        "{type: object, properties: {t: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{rule: \"self.kind == 'ConfigMap' && self.metadata.name != 'x'\"}]}}}",
      ),
      '{t: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {}}}',
      '{t: {apiVersion: v1, kind: ConfigMap, metadata: {name: y}, data: {}}}',
      "spec.t: failed rule: self.kind == 'ConfigMap' && self.metadata.name != 'x'",
    ],
  ]

describe('rules of a custom kind', () => {
  test.each(CASES)('%s', (_what, definition, refused, allowed, said) => {
    expect(found(definition, refused)).toEqual([said])
    expect(answer(definition, allowed)).toMatchObject({ problems: [], count: 0, undecided: 0 })
  })

  test('the name of the object, and no other metadata', () => {
    const named = (rule: string) => kindWith('{type: object}', `[{rule: ${JSON.stringify(rule)}}]`)
    expect(found(named("self.metadata.name == 'g' && self.kind == 'Gadget'"), '{}')).toEqual([])
    expect(found(named("self.metadata.name.startsWith('x')"), '{}')).toEqual([
      ": failed rule: self.metadata.name.startsWith('x')",
    ])
    expect(found(named('!has(self.metadata.labels)'), '{}')).toEqual([])
  })

  test('rules under allOf alone are none to the API server', () => {
    const alone = kindWith("{type: object, allOf: [{x-kubernetes-validations: [{rule: 'false'}]}]}")
    expect(answer(alone, '{}')).toMatchObject({ problems: [], undecided: 0 })
  })
})

describe('rules that compare with what was', () => {
  const fixed = object('a: {type: string}', 'self.a == oldSelf.a', ', message: a may not change')

  test('are asked of an update only', () => {
    expect(found(fixed, '{a: y}', '{a: x}')).toEqual(['spec: a may not change'])
    expect(found(fixed, '{a: x}', '{a: x}')).toEqual([])
    expect(answer(fixed, '{a: y}')).toMatchObject({ problems: [], undecided: 0 })
  })

  test('also of a new object where they say so', () => {
    const optional = object(
      'a: {type: string}',
      "oldSelf.hasValue() ? oldSelf.value().a == self.a : self.a == 'x'",
      ', optionalOldSelf: true',
    )
    expect(found(optional, '{a: y}')).toHaveLength(1)
    expect(found(optional, '{a: x}')).toEqual([])
    expect(found(optional, '{a: y}', '{a: y}')).toEqual([])
    expect(found(optional, '{a: x}', '{a: y}')).toHaveLength(1)
  })

  test('find items of a list by their keys', () => {
    const list = kindWith(
      "{type: object, properties: {l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [n], items: {type: object, required: [n], properties: {n: {type: string}, v: {type: integer}}, x-kubernetes-validations: [{rule: 'self.v >= oldSelf.v', message: it shrinks}]}}}}",
    )
    expect(found(list, '{l: [{n: b, v: 2}, {n: a, v: 1}]}', '{l: [{n: a, v: 2}, {n: b, v: 1}]}')).toEqual([
      'spec.l.1: it shrinks',
    ])
    expect(found(list, '{l: [{n: c, v: 0}, {n: a, v: 2}]}', '{l: [{n: a, v: 2}, {n: b, v: 1}]}')).toEqual([])
  })

  test('what did not change keeps what another rule has against it', () => {
    const strict = object('a: {type: string}, b: {type: string}', "self.a == 'x'")
    expect(found(strict, '{a: y, b: n}', '{a: y, b: m}')).toHaveLength(1)
    expect(found(strict, '{a: y}', '{a: y}')).toEqual([])
    const field = kindWith(
      '{type: object, properties: {b: {type: string}, a: {type: string, x-kubernetes-validations: [{rule: "self == \'x\'"}]}}}',
    )
    expect(found(field, '{a: y, b: n}', '{a: y, b: m}')).toEqual([])
    expect(found(field, '{a: z, b: n}', '{a: y, b: m}')).toHaveLength(1)
  })
})

describe('what is not known is never passed in silence', () => {
  const sealed = "'ENC[AES256_GCM,data:xxxx,iv:aa,tag:bb,type:str]'"
  const rule = object('a: {type: string}, b: {type: boolean}', "self.b || self.a == 'x'")

  test('an encrypted value that decides, and one that does not', () => {
    expect(answer(rule, `{a: ${sealed}, b: false}`)).toMatchObject({
      problems: [],
      undecided: 2,
      notEvaluated: [{ path: ['spec'], why: 'a value that is not known before it is applied' }],
    })
    expect(answer(rule, `{a: ${sealed}, b: true}`)).toMatchObject({ problems: [], undecided: 1, notEvaluated: [] })
  })

  test('a function that is not known here', () => {
    const later = object('a: {type: string}', 'self.a.fromTheFuture()')
    expect(answer(later, '{a: x}').notEvaluated).toEqual([
      { path: ['spec'], rule: 'self.a.fromTheFuture()', why: 'the function fromTheFuture is not supported' },
    ])
  })

  test('the status of an object that stands', () => {
    const ready = kindWith('{type: object, properties: {a: {type: string}}}', "[{rule: '!has(self.status)'}]")
    expect(answer(ready, '{a: x}')).toMatchObject({ problems: [], undecided: 0 })
    expect(answer(ready, '{a: x}', '{a: y}').notEvaluated).toMatchObject([{ why: 'status is set by the cluster' }])
  })

  test('more work than the API server does, for one rule and for all', () => {
    const many = (count: number) => `{l: [${Array.from({ length: count }, (_, index) => `k${index}`).join(', ')}]}`
    const square = object('l: {type: array, items: {type: string}}', 'self.l.all(a, self.l.exists_one(b, a == b))')
    expect(answer(square, many(20))).toMatchObject({ problems: [], undecided: 0 })
    expect(answer(square, many(2_000)).notEvaluated).toMatchObject([{ why: 'it takes more than 1000000 steps' }])
    const each = kindWith(
      "{type: object, properties: {l: {type: array, items: {type: string, x-kubernetes-validations: [{rule: 'lists.range(2000).all(i, i >= 0)'}]}}}}",
    )
    expect(answer(each, many(100))).toMatchObject({ problems: [], undecided: 0 })
    const { undecided, notEvaluated } = answer(each, many(2_000))
    expect(undecided).toBeGreaterThan(100)
    expect(notEvaluated?.[0]?.why).toBe('together its expressions take too many steps')
  })
})
