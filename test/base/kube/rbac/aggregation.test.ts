import { expect, test } from 'vitest'
import type { Json } from '../../../../src/kube/node.ts'
import { authorizerOf } from '../../../../src/kube/rbac/authorizer.ts'
import { plainObject, role } from './plain-object.ts'

const rules = (...verbs: string[]): Json => verbs.map(verb => ({ verbs: [verb], apiGroups: [''], resources: ['pods'] }))

/** A ClusterRole `name` labelled `is: <name>`, which selects those labelled so. */
function one(name: string, own: Json, ...selects: string[]): Json {
  const clusterRoleSelectors = selects.map(is => ({ matchLabels: { is } }))
  const more = selects.length > 0 ? { aggregationRule: { clusterRoleSelectors } } : {}
  return role('', name, own, { metadata: { name, labels: { is: name } }, ...more })
}

function verbsOf(name: string, ...objects: Json[]): string[] {
  const found =
    authorizerOf(objects.map(plainObject), { roles: new Map(), bindings: [] }).rulesOf(
      { kind: 'ClusterRole', name },
      '',
    ) ?? []
  return found.flatMap(rule => rule.verbs)
}

test('a role holds what it selects, at any distance, and each rule once', () => {
  const world = [
    one('all', rules('own'), 'middle', 'base'),
    one('middle', null, 'base', 'other'),
    one('base', rules('get', 'list')),
    one('other', rules('list', 'watch')),
    one('apart', rules('delete')),
  ]
  expect(verbsOf('all', ...world)).toEqual(['get', 'list', 'watch'])
  expect(verbsOf('middle', ...world)).toEqual(['get', 'list', 'watch'])
})

test('what is written into it is overwritten, but by nothing it is not', () => {
  expect(verbsOf('a', one('a', rules('own'), 'gone'))).toEqual(['own'])
  expect(verbsOf('a', one('a', rules('own'), 'b'), one('b', null))).toEqual(['own'])
  expect(verbsOf('a', one('a', rules('own'), 'b'), one('b', rules('kept'), 'gone'))).toEqual(['kept'])
  expect(verbsOf('a', one('a', rules('own'), 'b'), one('b', rules('lost'), 'c'), one('c', rules('get')))).toEqual([
    'get',
  ])
})

test('it never selects itself, and a circle ends and counts what may have come into it', () => {
  expect(verbsOf('a', one('a', rules('own'), 'a'))).toEqual(['own'])
  const ring = [one('a', rules('x'), 'b'), one('b', rules('y'), 'a', 'c'), one('c', rules('get'))]
  expect(verbsOf('a', ...ring)).toEqual(['x', 'y', 'get'])
  // above the circle nothing of its own is left
  expect(verbsOf('top', one('top', rules('lost'), 'a'), ...ring)).toEqual(['x', 'y', 'get'])
})

test('many roles that all select each other end soon', () => {
  const all = Array.from({ length: 300 }, (_, at) =>
    role('', `r${at}`, rules(`v${at}`), { aggregationRule: { clusterRoleSelectors: [{}] } }),
  )
  expect(verbsOf('r7', ...all)).toHaveLength(300)
})

test('expressions select by presence, absence and values', () => {
  const selecting = (key: string, operator: string, values: string[]) =>
    role('', 'a', [], {
      aggregationRule: { clusterRoleSelectors: [{ matchExpressions: [{ key, operator, values }] }] },
    })
  const others = [one('red', rules('get')), one('blue', rules('list')), role('', 'plain', rules('watch'))]
  const verbs = (key: string, operator: string, ...values: string[]) =>
    verbsOf('a', selecting(key, operator, values), ...others)
  expect(verbs('is', 'In', 'red', 'green')).toEqual(['get'])
  expect(verbs('is', 'NotIn', 'red')).toEqual(['list', 'watch'])
  expect(verbs('is', 'Exists')).toEqual(['list', 'get'])
  expect(verbs('is', 'DoesNotExist')).toEqual(['watch'])
})
