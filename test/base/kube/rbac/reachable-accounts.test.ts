import { expect, test } from 'vitest'
import type { Json } from '../../../../src/kube/node.ts'
import { authorizerOf } from '../../../../src/kube/rbac/authorizer.ts'
import { userInfo } from '../../../../src/kube/rbac/policy-rule.ts'
import { type Account, reachableAccounts } from '../../../../src/kube/rbac/reachable-accounts.ts'
import { binding, plainObject, role } from './plain-object.ts'

const account = (path: string): Account => {
  const [namespace = '', name = ''] = path.split('/')
  return { namespace, name }
}
const ACCOUNTS = ['apps/dev', 'apps/default', 'ops/root', 'ops/default', 'far/away'].map(account)

/** \`ways\` of alice in the namespace of a binding. */
function reached(...objects: Json[]): string[] {
  const found = reachableAccounts(authorizerOf(objects.map(plainObject)), userInfo('alice'), ACCOUNTS)
  return [...found.values()].map(
    ({ account, from, way }) => `${account.namespace}/${account.name} from ${from}: ${way}`,
  )
}

const rule = (verbs: string[], resource: string, group = '', resourceNames: string[] = []): Json => [
  { verbs, apiGroups: [group], resources: [resource], resourceNames },
]

test.each([
  [rule(['create'], 'pods'), 'runs pods'],
  [rule(['patch'], 'deployments', 'apps'), 'runs pods'],
  [rule(['update'], 'cronjobs', 'batch', ['nightly']), 'runs pods'],
  [rule(['create'], 'kustomizations', 'kustomize.toolkit.fluxcd.io'), 'runs Flux objects'],
  [rule(['*'], '*', '*'), 'runs pods'],
  [rule(['create'], 'pods/exec'), 'executes in pods'],
  [rule(['list'], 'secrets'), 'reads token secrets'],
  [rule(['create'], 'serviceaccounts/token'), 'requests tokens'],
  [rule(['impersonate'], 'serviceaccounts'), 'impersonates'],
  [rule(['impersonate:serviceaccount'], 'serviceaccounts', 'authentication.k8s.io'), 'impersonates'],
])('%j in a namespace reaches every account of it', (rules, way) => {
  const got = reached(role('apps', 'r', rules), binding('apps', 'b', 'Role r', 'User alice'))
  expect(got).toEqual([`apps/dev from alice: ${way}`, `apps/default from alice: ${way}`])
})

test.each([
  [rule(['get', 'list', 'watch'], 'pods')],
  [rule(['create'], 'configmaps')],
  [rule(['delete'], 'deployments', 'apps')],
  [rule(['create'], 'pods', 'apps')],
  [rule(['create'], 'serviceaccounts')],
])('%j reaches nobody', rules => {
  expect(reached(role('apps', 'r', rules), binding('apps', 'b', 'Role r', 'User alice'))).toEqual([])
})

test('a right over one account reaches that one', () => {
  const named = role('', 'r', rule(['impersonate'], 'serviceaccounts', '', ['root']))
  expect(reached(named, binding('ops', 'b', 'ClusterRole r', 'User alice'))).toEqual([
    'ops/root from alice: impersonates',
  ])
  expect(reached(named, binding('', 'b', 'ClusterRole r', 'User alice'))).toEqual(['ops/root from alice: impersonates'])
})

test('one account leads to the next, and circles end', () => {
  const pods = role('', 'pods', rule(['create'], 'pods'))
  const got = reached(
    pods,
    binding('apps', 'a', 'ClusterRole pods', 'User alice'),
    binding('ops', 'b', 'ClusterRole pods', 'ServiceAccount apps/dev'),
    binding('apps', 'c', 'ClusterRole pods', 'ServiceAccount ops/root'),
  )
  expect(got).toEqual([
    'apps/dev from alice: runs pods',
    'apps/default from alice: runs pods',
    'ops/root from system:serviceaccount:apps:dev: runs pods',
    'ops/default from system:serviceaccount:apps:dev: runs pods',
  ])
})

test('a right in the whole cluster reaches all of it', () => {
  const got = reached(binding('', 'b', 'ClusterRole edit', 'User alice'))
  expect(got.map(text => text.split(' ')[0])).toEqual([
    'apps/dev',
    'apps/default',
    'ops/root',
    'ops/default',
    'far/away',
  ])
})
