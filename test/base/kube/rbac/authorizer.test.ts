import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../../src/kube/node.ts'
import { confirmApply } from '../../../../src/kube/rbac/apply-requests.ts'
import { authorizerOf } from '../../../../src/kube/rbac/authorizer.ts'
import { confirmWrite } from '../../../../src/kube/rbac/confirm-write.ts'
import { accountOf, quote, userInfo } from '../../../../src/kube/rbac/policy-rule.ts'
import { DEFAULT_POLICY } from '../../../../src/kube/rbac/role-store.ts'
import { malformed } from './malformed-policy.ts'
import { binding, plainObject, role } from './plain-object.ts'

const READ = [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'] }]
const request = (namespace: string, verb = 'get') => ({ verb, apiGroup: '', resource: 'secrets', namespace, name: 'a' })

const authorizer = (...objects: Json[]) => authorizerOf(objects.map(plainObject))

describe('a binding applies to', () => {
  /** The cases of TestAppliesTo of rule_test.go in k8s.io/kubernetes pkg/registry/rbac/validation, and their neighbours. */
  const cases: readonly [
    namespace: string,
    subject: string,
    user: string,
    groups: readonly string[],
    applies: boolean,
  ][] = [
    ['ns', 'User foo', 'foo', [], true],
    ['ns', 'User foo', 'Foo', [], false],
    ['ns', 'User *', 'foo', [], false],
    ['ns', 'Group a', 'foo', ['b', 'a'], true],
    ['ns', 'Group a', 'a', [], false],
    ['ns', 'User a', 'foo', ['a'], false],
    ['ns', 'Group system:authenticated', 'foo', [], true],
    ['ns', 'Group system:serviceaccounts:ns', 'system:serviceaccount:ns:x', [], true],
    ['ns', 'Group system:serviceaccounts:ns', 'system:serviceaccount:ns2:x', [], false],
    ['ns', 'Group system:serviceaccounts', 'gotk:ns:reconciler', [], false],
    ['ns', 'ServiceAccount ns/x', 'system:serviceaccount:ns:x', [], true],
    ['ns', 'ServiceAccount x', 'system:serviceaccount:ns:x', [], true],
    ['ns', 'ServiceAccount x', 'system:serviceaccount:other:x', [], false],
    ['ns', 'ServiceAccount other/x', 'system:serviceaccount:other:x', [], true],
    ['ns', 'ServiceAccount ns/x', 'x', [], false],
    ['ns', 'User system:serviceaccount:ns:x', 'system:serviceaccount:ns:x', [], true],
    ['', 'ServiceAccount ns/x', 'system:serviceaccount:ns:x', [], true],
    // a ClusterRoleBinding of an account needs its namespace, or the API server refuses all of it
    ['', 'ServiceAccount x', 'system:serviceaccount:ns:x', [], false],
    ['', 'User foo', 'foo', [], true],
  ]
  test.each(cases)('(in %j) %s: %s of %j: %s', (namespace, subject, user, groups, applies) => {
    const rights = authorizer(role('', 'r', READ), binding(namespace, 'b', 'ClusterRole r', subject))
    expect(rights.allows(userInfo(user, groups), request('ns'))).toBe(applies)
    // a RoleBinding counts in its namespace only
    expect(rights.allows(userInfo(user, groups), request('elsewhere'))).toBe(applies && namespace === '')
  })
})

test('who a user is by name', () => {
  expect(userInfo('system:serviceaccount:apps:dev').groups).toEqual([
    'system:serviceaccounts',
    'system:serviceaccounts:apps',
    'system:authenticated',
  ])
  expect(userInfo('gotk:apps:reconciler').groups).toEqual(['system:authenticated'])
  expect(userInfo('system:anonymous').groups).toEqual(['system:unauthenticated'])
  for (const odd of ['system:serviceaccount:a:b:c', 'system:serviceaccount:A:b', 'system:serviceaccount:a:', 'a:b']) {
    expect([accountOf(odd), userInfo(odd).groups]).toEqual([undefined, ['system:authenticated']])
  }
})

test('what allows something is told, and a role that is not there grants nothing and is told', () => {
  const rights = authorizer(
    role('ns', 'reader', READ),
    binding('ns', 'one', 'Role reader', 'User foo'),
    binding('ns', 'lost', 'Role gone', 'User foo'),
    binding('', 'lost', 'ClusterRole gone', 'User foo'),
    // a Role has no meaning in a ClusterRoleBinding
    binding('', 'wrong', 'Role reader', 'User bar'),
  )
  const yes = rights.authorize(userInfo('foo'), request('ns'))
  expect(yes).toMatchObject({
    allowed: true,
    grant: { binding: { name: 'one' }, subject: { name: 'foo' }, rule: READ[0] },
  })
  const no = rights.authorize(userInfo('foo'), request('ns', 'patch'))
  expect(no).toMatchObject({ allowed: false, unresolved: [{ kind: 'ClusterRoleBinding' }, { kind: 'RoleBinding' }] })
  expect(no.allowed ? '' : no.message).toBe(
    'secrets "a" is forbidden: User "foo" cannot patch resource "secrets" in API group "" in the namespace "ns": RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, role.rbac.authorization.k8s.io "gone" not found]',
  )
  expect(rights.allows(userInfo('bar'), request('ns'))).toBe(false)
})

test('a role that two write, or the API server too, allows what it may allow at some time', () => {
  const more = [{ verbs: ['patch'], apiGroups: [''], resources: ['secrets'] }]
  const twice = authorizer(role('', 'r', READ), role('', 'r', more), binding('ns', 'b', 'ClusterRole r', 'User foo'))
  for (const verb of ['get', 'patch']) expect(twice.allows(userInfo('foo'), request('ns', verb))).toBe(true)
  const viewing = authorizer(
    role('', 'view', []),
    role('', 'mine', READ, {
      metadata: { name: 'mine', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
    }),
    binding('ns', 'b', 'ClusterRole view', 'User foo'),
  )
  expect(viewing.allows(userInfo('foo'), request('ns'))).toBe(true)
  expect(viewing.allows(userInfo('foo'), { ...request('ns'), resource: 'pods' })).toBe(true)
  expect(
    authorizerOf([], { roles: new Map(), bindings: [] }).allows(userInfo('x', ['system:masters']), request('ns')),
  ).toBe(false)
  expect(authorizerOf([], DEFAULT_POLICY).allows(userInfo('x', ['system:masters']), request('ns'))).toBe(true)
})

test('a RoleBinding to cluster-admin reaches the Namespace itself, also where it is new, and no other one', () => {
  const rights = authorizer(binding('apps', 'b', 'ClusterRole cluster-admin', 'User foo'))
  const custom = { scopes: new Map(), plurals: new Map() }
  const refusals = (object: Json, change: 'add' | 'change' | 'remove') =>
    confirmApply(rights, userInfo('foo'), plainObject(object), change, custom).map(({ verb }) => verb)
  const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  expect(refusals(namespace('apps'), 'change')).toEqual([])
  expect(refusals(namespace('apps'), 'remove')).toEqual([])
  expect(refusals(namespace('apps'), 'add')).toEqual([])
  expect(refusals(namespace('other'), 'add')).toEqual(['get', 'patch', 'create'])
  expect(refusals(namespace('other'), 'change')).toEqual(['get', 'patch'])
  expect(refusals(role('', 'r', READ), 'add')).toEqual(['get', 'patch', 'create', 'create'])
  expect(refusals(role('apps', 'r', READ), 'add')).toEqual([])
  expect(refusals(binding('other', 'b', 'ClusterRole view', 'User foo'), 'change')).toEqual(['get', 'patch', 'patch'])
})

test('texts are quoted as Go quotes them', () => {
  expect(quote('a"b\\c\n\t\u0000\u007f é 漢 \u202e\u{e0001}')).toBe(
    '"a\\"b\\\\c\\n\\t\\x00\\x7f é 漢 \\u202e\\U000e0001"',
  )
})

test('no shape of an object makes it throw', () => {
  const kinds = ['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding']
  const field = fc.oneof({ depthSize: 'medium' }, fc.jsonValue(), fc.constantFrom(...malformed()))
  const object = fc.record({
    apiVersion: fc.constant('rbac.authorization.k8s.io/v1'),
    kind: fc.constantFrom(...kinds),
    metadata: fc.oneof(fc.constant({ name: 'a', namespace: 'ns' }), field),
    rules: field,
    roleRef: fc.oneof(fc.constant({ kind: 'ClusterRole', name: 'a' }), field),
    subjects: field,
    aggregationRule: field,
  })
  fc.assert(
    fc.property(fc.array(object, { maxLength: 8 }), list => {
      const objects = list.map(one => plainObject(one as Json))
      const rights = authorizerOf(objects)
      const user = userInfo('system:serviceaccount:ns:a')
      for (const one of objects) {
        rights.authorize(user, request('ns'))
        confirmWrite(rights, user, one)
        confirmApply(rights, user, one, 'change', { scopes: new Map(), plurals: new Map() }, one)
      }
      rights.bindings.namespacesOf(user)
    }),
    { numRuns: 300 },
  )
})
