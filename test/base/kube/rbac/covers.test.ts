import { expect, test } from 'vitest'
import { authorizerOf } from '../../../../src/kube/rbac/authorizer.ts'
import { covers, uncovered } from '../../../../src/kube/rbac/confirm-write.ts'
import { compactString } from '../../../../src/kube/rbac/policy-rule.ts'
import { DEFAULT_POLICY } from '../../../../src/kube/rbac/role-store.ts'
import { ruleOf } from './rule-text.ts'

/** The cases of policy_comparator_test.go of k8s.io/component-helpers/auth/rbac/validation, and their neighbours. */
const CASES: readonly [owner: readonly string[], servant: readonly string[], missing: readonly string[]][] = [
  [['get v1:builds'], ['get v1:builds'], []],
  [['get v1:*/scale'], ['get v1:foo/scale'], []],
  [['get v1:*/scale'], ['get v1:foo'], ['get v1:foo']],
  [['get v1:*/scale'], ['get v1:foo/scale/more'], ['get v1:foo/scale/more']],
  [['get v1:*'], ['get v1:foo/scale,*/status'], []],
  [['get v1:pods/*'], ['get v1:pods/log'], ['get v1:pods/log']],
  [
    ['delete v1:deployments', 'delete v1:builds', 'update v1:builds,deployments'],
    ['delete,update v1:builds,deployments'],
    [],
  ],
  [['delete,update g1,g2:builds,deployments'], ['delete g1:builds', 'update g2:deployments'], []],
  [
    ['delete,update v1:builds,deployments', 'delete v1:pods'],
    ['delete,update v1:builds,deployments,pods'],
    ['update v1:pods'],
  ],
  [['get *:roles'], ['get g1,g2:roles'], []],
  [['get dummy:roles'], ['get *:roles'], ['get *:roles']],
  [['get g1:roles', 'get g2:roles'], ['get *:roles'], ['get *:roles']],
  [['get *:roles'], ['get *:roles'], []],
  [['* v1:roles'], ['watch,list v1:roles'], []],
  [['get,list,watch,create,update,delete v1:roles'], ['* v1:roles'], ['* v1:roles']],
  [['get v1:*'], ['get v1:deployments'], []],
  [['get v1:roles,deployments'], ['get v1:*'], ['get v1:*']],
  [['get v1:pods'], ['get v1:pods =foo,bar'], []],
  [['get v1:pods =foo,bar'], ['get v1:pods'], ['get v1:pods']],
  [['get v1:pods =foo,bar'], ['get v1:pods =bar'], []],
  [['get v1:pods =foo', 'get v1:pods =bar'], ['get v1:pods =foo,bar,baz'], ['get v1:pods =baz']],
  [['* /apis'], ['* /apis'], []],
  [['* path:*'], ['* /apis,/apis/v1,/'], []],
  [['* /apis/*'], ['get /apis,/apis/v1'], ['get /apis']],
  [['* /apis/*'], ['get /apis/v1/foo,/apis/v1'], []],
  [['get v1:builds'], ['get v1:builds', 'get /apis'], ['get /apis']],
  [['get v1:builds'], ['get,list,watch v1:pods', 'get v2:pods'], ['get,list,watch v1:pods', 'get v2:pods']],
  [[], ['get v1:pods'], ['get v1:pods']],
  [[], [], []],
]

test.each(CASES)('%j against %j leaves %j', (owner, servant, missing) => {
  const left = uncovered(owner.map(ruleOf), servant.map(ruleOf))
  expect(left.map(compactString)).toEqual(missing.map(ruleOf).map(compactString))
  expect(covers(owner.map(ruleOf), servant.map(ruleOf))).toBe(missing.length === 0)
})

test('a rule of many values costs what it is long, not the product of its lists', () => {
  const many = (letter: string) => Array.from({ length: 3000 }, (_, at) => `${letter}${at}`)
  const wide = { ...ruleOf('get :pods'), verbs: many('v'), apiGroups: many('g'), resources: many('r') }
  const owner = [ruleOf('* *:*')]
  const started = performance.now()
  expect(uncovered(owner, [wide])).toEqual([])
  const almost = { ...wide, resourceNames: ['a'] }
  const named = [
    { ...wide, verbs: wide.verbs.slice(1) },
    { ...almost, verbs: ['v0'], resources: many('r').slice(0, 2999) },
  ]
  expect(uncovered(named, [almost]).length).toBe(1000)
  // the product has 27 thousand million parts
  expect(performance.now() - started).toBeLessThan(20_000)
})

test('of the default roles admin covers edit, edit covers view, and none the other way', () => {
  const authorizer = authorizerOf([])
  const rules = (name: string) => authorizer.rulesOf({ kind: 'ClusterRole', name }, '') ?? []
  expect(rules('view').length).toBeGreaterThan(8)
  expect(covers(rules('admin'), rules('edit'))).toBe(true)
  expect(covers(rules('edit'), rules('view'))).toBe(true)
  expect(covers(rules('cluster-admin'), rules('admin'))).toBe(true)
  expect(covers(rules('edit'), rules('admin'))).toBe(false)
  expect(covers(rules('view'), rules('edit'))).toBe(false)
  expect(DEFAULT_POLICY.roles.size).toBeGreaterThan(60)
})
