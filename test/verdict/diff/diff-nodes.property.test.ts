import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nodeOf } from '../../../src/fleet/model/kustomization-spec.ts'
import type { Json, Node } from '../../../src/kube/node.ts'
import { schemaOfObject } from '../../../src/kustomize/patch/merge-schema.ts'
import { diffNodes } from '../../../src/verdict/diff/diff-nodes.ts'
import { applyOperations } from './apply-operations.ts'

const ORIGIN = { repository: '', file: 'x.yaml', line: 1, column: 1, via: [] }
const node = (value: Json): Node => nodeOf(value as never, ORIGIN)

const name = fc.constantFrom(
  'name',
  'image',
  'value',
  'port',
  'protocol',
  'containers',
  'rules',
  'verbs',
  'args',
  'a b',
  '__x',
)
const scalar = fc.oneof(fc.constantFrom('a', 'b', 'c', ''), fc.integer({ min: 0, max: 3 }), fc.boolean())
const { value: anything } = fc.letrec<{ value: Json }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))
const map = fc.dictionary(name, anything, { maxKeys: 5, noNullPrototype: true })
const SCHEMAS = [
  undefined,
  schemaOfObject('apps/v1', 'Deployment'),
  schemaOfObject('rbac.authorization.k8s.io/v1', 'Role'),
]

/** Without the order of any list. */
function unordered(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(unordered).sort().join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${unordered(one)}`).join()}}`
}

describe('the difference of two objects', () => {
  test('is empty where they are the same', () => {
    fc.assert(
      fc.property(map, fc.constantFrom(...SCHEMAS), (value, schema) => {
        expect(diffNodes(node(value), node(structuredClone(value)), schema)).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  test('makes the one of the other', () => {
    fc.assert(
      fc.property(map, map, fc.constantFrom(...SCHEMAS), (before, after, schema) => {
        const made = applyOperations(before, diffNodes(node(before), node(after), schema))
        expect(unordered(made)).toBe(unordered(after))
      }),
      { numRuns: 2000 },
    )
  })

  test('makes the one list of the other in its order', () => {
    const list = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 })
    fc.assert(
      fc.property(list, list, (before, after) => {
        const of = (items: string[]) => ({ args: items })
        const made = applyOperations(of(before), diffNodes(node(of(before)), node(of(after)), SCHEMAS[1]))
        expect(made).toEqual(of(after))
      }),
      { numRuns: 1000 },
    )
  })

  test('is the same in both directions but for its sides', () => {
    fc.assert(
      fc.property(map, map, (one, other) => {
        const there = diffNodes(node(one), node(other), undefined)
        const back = diffNodes(node(other), node(one), undefined)
        expect(there.length === 0).toBe(back.length === 0)
      }),
      { numRuns: 500 },
    )
  })
})

describe('items of lists', () => {
  const paths = (before: Json, after: Json, kind = 'Deployment') =>
    diffNodes(node(before), node(after), schemaOfObject('apps/v1', kind)).map(({ path, was, now }) => [
      path.map(step => (typeof step === 'string' ? step : (step.label ?? step.at))).join('.'),
      was ? 'was' : '',
      now ? 'now' : '',
    ])
  const spec = (container: Json) => ({ spec: { template: { spec: { containers: [container] } } } })

  test('are one item by containerPort and protocol, which is TCP where it is not written', () => {
    const before = spec({ name: 'web', ports: [{ containerPort: 53, protocol: 'UDP' }, { containerPort: 53 }] })
    const after = spec({
      name: 'web',
      ports: [
        { containerPort: 53, protocol: 'TCP', name: 'dns' },
        { containerPort: 53, protocol: 'UDP' },
      ],
    })
    expect(paths(before, after)).toEqual([
      ['spec.template.spec.containers.web.ports.53/TCP.name', '', 'now'],
      ['spec.template.spec.containers.web.ports.53/TCP.protocol', '', 'now'],
    ])
  })

  test('that move are no change, but for init containers, which run one after the other', () => {
    const of = (key: string, ...names: string[]) => ({
      spec: { template: { spec: { [key]: names.map(one => ({ name: one })) } } },
    })
    expect(paths(of('volumes', 'a', 'b'), of('volumes', 'b', 'a'))).toEqual([])
    expect(paths(of('initContainers', 'a', 'b'), of('initContainers', 'b', 'a'))).toEqual([
      ['spec.template.spec.initContainers', '', ''],
    ])
  })

  test('in lists of kinds that nobody knows may not move unseen', () => {
    const of = (...names: string[]) => ({ routes: names.map(one => ({ name: one })) })
    expect(paths(of('a', 'b'), of('b', 'a'), 'Unknown')).toEqual([['routes', '', '']])
  })
})
