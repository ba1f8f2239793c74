import { describe, expect, test } from 'vitest'
import { at, type Json, type MapNode, toJson } from '../../../src/kube/node.ts'
import { idOf } from '../../../src/kube/object.ts'
import { isAccepted } from '../../../src/schema/accept-walk.ts'
import type { Problem } from '../../../src/schema/core/problem.ts'
import { TypeWalk } from '../../../src/schema/type-walk.ts'
import { kindEntry, NEWEST, VERSIONS } from '../../../src/schema/types-table.ts'
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
function slowly(root: MapNode, version: number): readonly Problem[] {
  const walk = new TypeWalk(version)
  walk.object(root, typeOf(root))
  return walk.problems
}

const accepted = (root: MapNode, version = NEWEST) => isAccepted(root, typeOf(root), version)

/** How it was accepted, after a comparison with what is wrong. */
function compared(root: MapNode): 'accepted' | 'wrong' | 'twice' {
  const problems = slowly(root, NEWEST)
  if (!accepted(root)) return problems.length > 0 ? 'wrong' : 'twice'
  if (problems.length > 0) expect(problems, JSON.stringify(toJson(root))).toEqual([])
  return 'accepted'
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

test.each(OBJECTS.map(text => [/kind: (\w+)/.exec(text)![1]!, text]))('a valid %s is accepted', (_kind, text) => {
  for (const version of VERSIONS) expect(accepted(rootOf(text), version)).toBe(true)
})

describe('what is accepted has no problem', () => {
  test('in changed objects of every kind', () => {
    const count = { accepted: 0, wrong: 0, twice: 0 }
    for (const text of [...OBJECTS, WIDGETS])
      for (const json of variants(text)) count[compared(rootOf(JSON.stringify(json)))] += 1
    // neither side is empty, and few valid objects are compared twice
    expect(count.wrong).toBeGreaterThan(1_000)
    expect(count.accepted).toBeGreaterThan(500)
    expect(count.twice).toBeLessThan(count.accepted / 4)
  })

  test('in each row that a real API server is asked about', () => {
    const count = { accepted: 0, wrong: 0, twice: 0 }
    for (const change of CHANGES) count[compared(rootOf(changed(change)))] += 1
    expect(count.accepted).toBeGreaterThan(30)
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
    expect(slowly(changed, NEWEST)).toMatchObject([{ kind: 'dropped-field', path: ['spec', 'a'] }])
    expect(accepted(changed)).toBe(false)
  })
})
