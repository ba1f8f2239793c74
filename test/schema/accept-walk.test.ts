import { describe, expect, test } from 'vitest'
import { at, type Json, type MapNode, toJson } from '../../src/kube/node.ts'
import { idOf } from '../../src/kube/object.ts'
import { isAccepted } from '../../src/schema/accept-walk.ts'
import { TypeWalk } from '../../src/schema/type-walk.ts'
import { kindEntry, NEWEST, VERSIONS } from '../../src/schema/types-table.ts'
import { CHANGES, changed } from './core/cases.ts'
import { rootOf, WIDGETS } from './custom/widget.ts'
import { mutants } from './mutants.ts'
import { OBJECTS } from './objects.ts'

const typeOf = (root: MapNode): string => {
  const { apiVersion, kind } = idOf({ root, trail: [] })
  const type = kindEntry(apiVersion, kind)?.type
  if (type?.is !== 'object') throw new Error(`${apiVersion} ${kind} is not in the table`)
  return type.type
}

/** What the walk says that names what is wrong. */
function slowly(root: MapNode, version: number): TypeWalk {
  const walk = new TypeWalk(version)
  walk.object(root, typeOf(root))
  return walk
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
function* variants(text: string): Generator<Json> {
  const object = toJson(rootOf(text)) as Record<string, Json>
  yield object
  let turn = 0
  for (const { changed } of mutants(object)) {
    yield changed
    const odd = JSON.stringify(ODD[turn++ % ODD.length]!)
    const [json, replaced] = [JSON.stringify(changed), JSON.stringify(changed).replace(/"word"|\b7\b/, odd)]
    if (replaced !== json) yield JSON.parse(replaced) as Json
  }
}

/** Definitions with most keywords, below `properties`, `items` and `additionalProperties`. */
const DEFINITIONS = [
  WIDGETS,
  ...['type: string', 'items: {type: string}', '$ref: a', 'uniqueItems: true', 'x-kubernetes-list-type: lots'].map(
    one => WIDGETS.replace('additionalProperties: {type: string}', `additionalProperties: {${one}}`),
  ),
  ...['type: array', 'properties: [a]', 'nullable: true, type: word', 'type: object, not: {type: string}'].map(one =>
    WIDGETS.replace('items: {type: string}', `items: {${one}}`),
  ),
]

test.each(OBJECTS.map(text => [/kind: (\w+)/.exec(text)![1]!, text]))('a valid %s is accepted', (_kind, text) => {
  for (const version of VERSIONS) expect(isAccepted(rootOf(text), typeOf(rootOf(text)), version)).toBe(true)
})

test('a valid definition is accepted', () => {
  expect(isAccepted(rootOf(WIDGETS), typeOf(rootOf(WIDGETS)), NEWEST)).toBe(true)
})

describe('what is accepted has no problem', () => {
  test('in changed objects of every kind', () => {
    const count = { accepted: 0, refused: 0, wrong: 0 }
    for (const text of [...OBJECTS, ...DEFINITIONS])
      for (const json of variants(text)) {
        const root = rootOf(JSON.stringify(json))
        const problems = slowly(root, NEWEST)
        const isFound = isAccepted(root, typeOf(root), NEWEST)
        count[isFound ? 'accepted' : 'refused'] += 1
        if (problems.count > 0) count.wrong += 1
        if (isFound && problems.count > 0) expect(problems.problems, JSON.stringify(json)).toEqual([])
      }
    // neither side is empty, and few valid objects are compared twice
    expect(count.wrong).toBeGreaterThan(2_000)
    expect(count.accepted).toBeGreaterThan(500)
    expect(count.refused - count.wrong).toBeLessThan(count.accepted / 4)
  })

  test('in each row that a real API server is asked about; few of its valid objects are compared twice', () => {
    const count = { accepted: 0, twice: 0 }
    for (const change of CHANGES) {
      const root = rootOf(changed(change))
      const found = slowly(root, NEWEST).problems
      if (isAccepted(root, typeOf(root), NEWEST)) {
        expect(found, change[0]).toEqual([])
        count.accepted += 1
      } else if (found.length === 0) count.twice += 1
    }
    expect(count.accepted).toBeGreaterThan(40)
    expect(count.twice).toBeLessThan(count.accepted / 4)
  })

  test('where Flux drops fields, which is said of each', () => {
    const root = rootOf(OBJECTS[0]!)
    const spec = at(root, ['spec']) as MapNode
    const origin = spec.origin
    const changed: MapNode = {
      ...root,
      fields: new Map([
        ...root.fields,
        ['spec', { key: origin, value: { ...spec, dropped: new Map([['a', origin]]) } }],
      ]),
    }
    expect(slowly(changed, NEWEST).problems).toMatchObject([{ kind: 'dropped-field', path: ['spec', 'a'] }])
    expect(isAccepted(changed, typeOf(changed), NEWEST)).toBe(false)
  })
})
