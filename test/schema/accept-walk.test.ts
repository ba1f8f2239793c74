import { describe, expect, test } from 'vitest'
import { at, type Json, type MapNode, toJson } from '../../src/kube/node.ts'
import { idOf } from '../../src/kube/object.ts'
import { acceptanceOf } from '../../src/schema/accept-walk.ts'
import { definitionProblems } from '../../src/schema/custom/definition-problems.ts'
import type { Problem } from '../../src/schema/model/problem.ts'
import { TypeWalk } from '../../src/schema/type-walk.ts'
import { kindEntry, NEWEST, VERSIONS } from '../../src/schema/types-table.ts'
import { CHANGES, changed } from './core/cases.ts'
import { rootOf, WIDGETS } from './custom/widget.ts'
import { mutants, someMutants } from './mutants.ts'
import { OBJECTS } from './objects.ts'

const typeOf = (root: MapNode): string => {
  const { apiVersion, kind } = idOf({ root, trail: [] })
  const type = kindEntry(apiVersion, kind)?.type
  if (type?.is !== 'object') throw new Error(`${apiVersion} ${kind} is not in the table`)
  return type.type
}

/** What the walks say that name what is wrong: of types and structure, and of defaults and rules. */
function slowly(root: MapNode, version: number): { readonly types: Problem[]; readonly rest: Problem[] } {
  const walk = new TypeWalk(version)
  walk.object(root, typeOf(root))
  const rest: Problem[] = []
  if (typeOf(root).endsWith('.CustomResourceDefinition')) definitionProblems(root, one => rest.push(one))
  return { types: [...walk.problems], rest }
}

const acceptance = (root: MapNode, version = NEWEST) => acceptanceOf(root, typeOf(root), version)

/** How it was accepted, after a comparison with what is wrong. */
function compared(root: MapNode): 'accepted' | 'unfinished' | 'wrong' | 'twice' {
  const [{ types, rest }, how] = [slowly(root, NEWEST), acceptance(root)]
  if (how !== 'unsure' && types.length > 0) expect(types, JSON.stringify(toJson(root))).toEqual([])
  if (how === 'valid' && rest.length > 0) expect(rest, JSON.stringify(toJson(root))).toEqual([])
  if (how !== 'unsure') return how === 'valid' ? 'accepted' : 'unfinished'
  return types.length + rest.length > 0 ? 'wrong' : 'twice'
}

/** Values that stand in files and have a form of their own. */
const ODD: readonly Json[] = [
  'ENC[AES256_GCM,data:x]',
  '',
  null,
  -1,
  1.5,
  4_294_967_296,
  true,
  {},
  [],
  [null],
  'a/b/c',
  '..',
]

/** The object, all of its single changes, and some of them with odd values. */
function* variants(text: string, seed: number): Generator<Json> {
  const object = toJson(rootOf(text)) as Record<string, Json>
  yield object
  let turn = 0
  for (const { changed } of seed === 0 ? mutants(object) : someMutants(object, seed, 80)) {
    yield changed
    const odd = JSON.stringify(ODD[turn++ % ODD.length]!)
    const [json, replaced] = [JSON.stringify(changed), JSON.stringify(changed).replace(/"word"|\b7\b/, odd)]
    if (replaced !== json) yield JSON.parse(replaced) as Json
  }
}

/** Definitions with most keywords, below `properties`, `items` and `additionalProperties`. */
const DEFINITIONS = [
  WIDGETS,
  ...[
    'type: string',
    'items: {type: string}',
    '$ref: a',
    'uniqueItems: true',
    'x-kubernetes-list-type: lots',
    "x-kubernetes-validations: [{rule: 'self =='}]",
    'type: string, default: 7',
  ].map(one => WIDGETS.replace('additionalProperties: {type: string}', `additionalProperties: {${one}}`)),
  ...['type: array', 'properties: [a]', 'nullable: true, type: word', 'type: object, not: {type: string}'].map(one =>
    WIDGETS.replace('items: {type: string}', `items: {${one}}`),
  ),
]

test.each(OBJECTS.map(text => [/kind: (\w+)/.exec(text)![1]!, text]))('a valid %s is accepted', (_kind, text) => {
  for (const version of VERSIONS) expect(acceptance(rootOf(text), version)).toBe('valid')
})

test('a valid definition is accepted, but for rules and seldom defaults', () => {
  expect(acceptance(rootOf(WIDGETS))).toBe('valid')
  for (const one of ["x-kubernetes-validations: [{rule: 'true'}]", 'default: {}, maxProperties: 1'])
    expect(acceptance(rootOf(WIDGETS.replace('additionalProperties:', `${one}, additionalProperties:`)))).toBe(
      'unfinished',
    )
})

describe('what is accepted has no problem', () => {
  test('in changed objects of every kind', () => {
    const count = { accepted: 0, unfinished: 0, wrong: 0, twice: 0 }
    // the definitions differ in one place, so some changes of each are enough
    for (const [index, text] of [...OBJECTS, ...DEFINITIONS].entries())
      for (const json of variants(text, Math.max(0, index - OBJECTS.length)))
        count[compared(rootOf(JSON.stringify(json)))] += 1
    // neither side is empty, and few valid objects are compared twice
    expect(count.wrong).toBeGreaterThan(2_000)
    expect(count.accepted).toBeGreaterThan(500)
    expect(count.twice).toBeLessThan(count.accepted / 4)
  })

  test('in each row that a real API server is asked about', () => {
    const count = { accepted: 0, unfinished: 0, wrong: 0, twice: 0 }
    for (const change of CHANGES) count[compared(rootOf(changed(change)))] += 1
    expect(count.accepted).toBeGreaterThan(100)
    expect(count.twice).toBeLessThan(10)
  })

  test('where Flux drops fields, which is said of each', () => {
    const root = rootOf(OBJECTS[0]!)
    const spec = at(root, ['spec']) as MapNode
    const origin = spec.origin
    const changed: MapNode = {
      ...root,
      fields: new Map([
        ...root.fields,
        ['spec', { key: origin, value: { ...spec, dropped: new Map([['a', { key: origin, value: spec }]]) } }],
      ]),
    }
    expect(slowly(changed, NEWEST).types).toMatchObject([{ kind: 'dropped-field', path: ['spec', 'a'] }])
    expect(acceptance(changed)).toBe('unsure')
  })
})
