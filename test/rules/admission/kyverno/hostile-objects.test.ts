import { expect, test } from 'vitest'
import { loadTest } from '../../../../tools/oracles/kyverno-tests/load-test.ts'
import { runTest } from '../../../../tools/oracles/kyverno-tests/run-test.ts'
import { treeOf } from '../../../base/git/tree-of.ts'

/** What a rule of the platform says about an object of a tenant. */
function found(validate: object, data: object): string {
  const metadata = { name: 'a', namespace: 'apps' }
  const match = { any: [{ resources: { kinds: ['ConfigMap'] } }] }
  const policy = { apiVersion: 'kyverno.io/v1', kind: 'ClusterPolicy', metadata: { name: 'p' } }
  const tree = treeOf({
    'kyverno-test.yaml':
      'policies: [p.yaml]\nresources: [r.yaml]\nresults: [{policy: p, rule: r, resources: [a], result: pass}]\n',
    'p.yaml': JSON.stringify({ ...policy, spec: { rules: [{ name: 'r', match, validate }] } }),
    'r.yaml': JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }),
  })
  const [row] = runTest(loadTest(tree, 'kyverno-test.yaml', ''))
  return row!.actual === 'not evaluated' ? `not evaluated: ${row!.message}` : row!.actual
}

const denied = (key: string) => ({ deny: { conditions: { any: [{ key, operator: 'Equals', value: 'x' }] } } })
const levels = (count: number): object => (count === 0 ? { a: 'x' } : { a: levels(count - 1) })

test('many wildcards on a long text take no time to speak of', () => {
  const started = process.cpuUsage()
  expect(found({ pattern: { data: { a: `${'*a'.repeat(200)}*b` } } }, { a: 'a'.repeat(20_000) })).toBe('fail')
  // CPU time: a busy machine does not count
  expect(process.cpuUsage(started).user).toBeLessThan(5_000_000)
})

test('deep objects: as deep as a pattern may be, and one level more', () => {
  // spec, its first field and the last value are levels too
  expect(found({ pattern: { data: levels(58) } }, levels(58))).toBe('pass')
  expect(found({ pattern: { data: levels(60) } }, levels(60))).toContain('a pattern of more than 60 levels')
})

test('work that multiplies with the size of an object is not evaluated', () => {
  const entries = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']))
  const loop = { list: 'keys(request.object.data)', ...denied('{{ length(request.object.data.* | sort(@)) }}') }
  expect(found({ foreach: [loop] }, entries(20))).toBe('pass')
  expect(found({ foreach: [loop] }, entries(1_000))).toBe('not evaluated: it takes more than 200000 steps')
})

test('names of a prototype are plain keys', () => {
  const data = JSON.parse('{"__proto__": "x", "constructor": "y"}') as object
  expect(found({ pattern: { data: { constructor: 'y' } } }, data)).toBe('pass')
  expect(found({ pattern: { data: { toString: '?*' } } }, data)).toBe('fail')
  expect(found(denied('{{ request.object.data."__proto__" }}'), data)).toBe('fail')
})

test('a regular expression of a policy is linear in the text of an object', () => {
  const started = process.cpuUsage()
  const text = `${'a'.repeat(20_000)}!`
  expect(found(denied("{{ regex_match('^(a+)+$', request.object.data.a) }}"), { a: text })).not.toBe('fail')
  expect(process.cpuUsage(started).user).toBeLessThan(5_000_000)
})
