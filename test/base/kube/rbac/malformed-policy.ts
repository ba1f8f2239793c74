import type { Json } from '../../../../src/kube/node.ts'
import { binding, role } from './plain-object.ts'

const GOOD = { verbs: ['get'], apiGroups: [''], resources: ['pods'] }

/** Roles and bindings of odd shapes, the sound ones beside them; each has a name of its own. */
export function malformed(): Json[] {
  return [
    ...rules().flatMap(inRoles),
    ...selectors().map(inAggregation),
    ...subjects().flatMap(inBindings),
    ...roleRefs(),
    ...metadata(),
  ]
}

function rules(): Json[] {
  const paths = { verbs: ['get'], nonResourceURLs: ['/healthz'] }
  return [
    null,
    [],
    {},
    'get',
    1,
    true,
    [null],
    ['get'],
    [[]],
    [{}],
    [GOOD],
    [GOOD, {}],
    [{ ...GOOD, verbs: null }],
    [{ ...GOOD, verbs: [] }],
    [{ ...GOOD, verbs: '*' }],
    [{ ...GOOD, verbs: [1] }],
    [{ ...GOOD, verbs: [null] }],
    [{ ...GOOD, verbs: [''] }],
    [{ ...GOOD, verbs: ['get', ['*']] }],
    [{ ...GOOD, verbs: { 0: '*' } }],
    [{ ...GOOD, apiGroups: null }],
    [{ ...GOOD, apiGroups: [] }],
    [{ ...GOOD, apiGroups: [null] }],
    [{ ...GOOD, resources: null }],
    [{ ...GOOD, resources: [] }],
    [{ ...GOOD, resources: [true] }],
    [{ ...GOOD, resourceNames: null }],
    [{ ...GOOD, resourceNames: [] }],
    [{ ...GOOD, resourceNames: 'a' }],
    [{ ...GOOD, resourceNames: [7] }],
    [{ ...GOOD, unknown: ['*'] }],
    [paths],
    [{ ...paths, verbs: [] }],
    [{ ...paths, apiGroups: [''] }],
    [{ ...paths, resources: ['pods'] }],
    [{ ...paths, resourceNames: ['a'] }],
    [{ ...paths, nonResourceURLs: [null] }],
    [{ ...paths, nonResourceURLs: ['no-slash'] }],
    [{ verbs: ['get'] }],
  ]
}

function inRoles(rule: Json, at: number): Json[] {
  return [role('apps', `malformed-${at}`, rule), role('', `malformed-${at}`, rule)]
}

function selectors(): Json[] {
  const labels = { matchLabels: { a: 'b' } }
  const one = (key: Json, operator: Json, values: Json): Json => ({
    clusterRoleSelectors: [{ matchExpressions: [{ key, operator, values }] }],
  })
  return [
    null,
    {},
    [],
    'all',
    { clusterRoleSelectors: null },
    { clusterRoleSelectors: [] },
    { clusterRoleSelectors: {} },
    { clusterRoleSelectors: [null] },
    { clusterRoleSelectors: [{}] },
    { clusterRoleSelectors: ['a=b'] },
    { clusterRoleSelectors: [labels] },
    { clusterRoleSelectors: [labels, { matchLabels: { a: 1 } }] },
    { clusterRoleSelectors: [{ matchLabels: { a: null } }] },
    { clusterRoleSelectors: [{ matchLabels: ['a'] }] },
    { clusterRoleSelectors: [{ matchLabels: { 'no key at all': 'b' } }] },
    { clusterRoleSelectors: [{ matchLabels: { a: 'no value!' } }] },
    one('a', 'In', ['b']),
    one('a', 'In', []),
    one('a', 'In', null),
    one('a', 'NotIn', ['b', 'c']),
    one('a', 'Exists', []),
    one('a', 'Exists', null),
    one('a', 'Exists', ['b']),
    one('a', 'DoesNotExist', null),
    one('a', 'exists', null),
    one('a', 'Gt', ['1']),
    one('', 'Exists', null),
    one(null, 'Exists', null),
    one('a', null, null),
  ]
}

function inAggregation(aggregationRule: Json, at: number): Json {
  return role('', `aggregating-${at}`, [], { aggregationRule })
}

function subjects(): Json[] {
  const rbac = { apiGroup: 'rbac.authorization.k8s.io' }
  return [
    null,
    [],
    {},
    'alice',
    [null],
    [{}],
    [{ kind: 'User', name: 'alice' }],
    [{ kind: 'User', name: 'alice', ...rbac }],
    [{ kind: 'User', name: 'alice', ...rbac, namespace: 'apps' }],
    [{ kind: 'User', name: 'alice', apiGroup: '' }],
    [{ kind: 'User', name: 'alice', apiGroup: 'example.com' }],
    [{ kind: 'User', name: '' }],
    [{ kind: 'User', name: null }],
    [{ kind: 'User', name: 1 }],
    [{ kind: 'user', name: 'alice' }],
    [{ kind: 'Group', name: 'a b/c' }],
    [{ kind: 'Robot', name: 'alice' }],
    [{ kind: 'ServiceAccount', name: 'dev' }],
    [{ kind: 'ServiceAccount', name: 'dev', namespace: 'apps' }],
    [{ kind: 'ServiceAccount', name: 'dev', namespace: 'No Name' }],
    [{ kind: 'ServiceAccount', name: 'dev', namespace: 'apps', ...rbac }],
    [{ kind: 'ServiceAccount', name: 'dev', namespace: null }],
    [{ kind: 'ServiceAccount', name: 'dev', namespace: ['apps'] }],
    [{ kind: 'ServiceAccount', name: 'Dev', namespace: 'apps' }],
    [{ kind: 'ServiceAccount', name: 'a:b', namespace: 'apps' }],
    [
      { kind: 'User', name: 'alice' },
      { kind: 'Robot', name: 'bob' },
    ],
  ]
}

function inBindings(list: Json, at: number): Json[] {
  return ['apps', ''].map(namespace => {
    const sound = binding(namespace, `malformed-${at}`, 'ClusterRole view') as { [key: string]: Json }
    return { ...sound, subjects: list }
  })
}

function roleRefs(): Json[] {
  const apiGroup = 'rbac.authorization.k8s.io'
  const refs: Json[] = [
    null,
    {},
    [],
    'view',
    { kind: 'ClusterRole', name: 'view' },
    { kind: 'Role', name: 'role-0' },
    { apiGroup: '', kind: 'ClusterRole', name: 'view' },
    { apiGroup: null, kind: 'ClusterRole', name: 'view' },
    { apiGroup: 'example.com', kind: 'ClusterRole', name: 'view' },
    { apiGroup, kind: 'clusterrole', name: 'view' },
    { apiGroup, kind: 'ClusterRole', name: '' },
    { apiGroup, kind: 'ClusterRole', name: 'a/b' },
    { apiGroup, kind: 'ClusterRole', name: '..' },
    { apiGroup, kind: 'ClusterRole', name: 5 },
    { apiGroup, kind: 'ClusterRole', name: 'a:b c' },
  ]
  return refs.flatMap((roleRef, at) =>
    ['apps', ''].map(namespace => {
      const sound = binding(namespace, `reference-${at}`, 'ClusterRole view') as { [key: string]: Json }
      return { ...sound, roleRef }
    }),
  )
}

function metadata(): Json[] {
  const odd: { [key: string]: Json }[] = [
    { labels: null },
    { labels: [] },
    { labels: { a: 1 } },
    { labels: { a: null } },
    { labels: { 'a b': 'c' } },
    { labels: { a: 'b c' } },
    { labels: { 'Example.com/a': 'b' } },
    { annotations: null },
    { annotations: { a: true } },
    { annotations: { a: 'any text at all!' } },
    { annotations: { 'a b': 'c' } },
    { annotations: { 'Example.com/A': 'b' } },
  ]
  const names = ['Upper Case', 'a:b', 'a%b', '..', 'ünï', 'x'.repeat(300)]
  const all = [...odd.map((more, at) => ({ name: `metadata-${at}`, ...more })), ...names.map(name => ({ name }))]
  return all.flatMap(({ name, ...more }): Json[] => {
    const sound = binding('apps', name, 'ClusterRole view') as { [key: string]: Json }
    const namespaced = { name, namespace: 'apps', ...more }
    return [{ ...sound, metadata: namespaced }, role('', name, [GOOD], { metadata: { name, ...more } })]
  })
}
