import { expect, test } from 'vitest'
import { applyViewFor } from '../../src/report/apply-report.ts'
import { PrivateWords } from '../../src/report/text/private-words.ts'
import { evaluationOf } from '../fleet/fleet-of.ts'
import { miniFleet, withResource } from '../fleet/mini-fleet.ts'

const { verdict, nodes } = evaluationOf(
  miniFleet({
    ops: {
      'deploy/config.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  annotations: {"a\\"}": "x\\\\"}\n  name: zqconfig\n  namespace: ops\n---\napiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: ops}\n',
    },
    dev: withResource(
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine, namespace: apps}\ndata: {peer: "ops.svc"}\n',
    ),
  }),
)
const words = new PrivateWords(verdict, ['dev-team'], nodes)

test.each([
  ['it belongs to tenant ops-team', 'it belongs to another tenant'],
  ['it belongs to tenant "ops-team".', 'it belongs to another tenant.'],
  [
    'ConfigMap ops/zqconfig, as system:serviceaccount:ops:ops-team',
    "ConfigMap ops/(another tenant's), as system:serviceaccount:ops:(another tenant's)",
  ],
  ['from https://github.com/acme/ops-team.', "from https://github.com/acme/(another tenant's)."],
])('%s', (text, said) => {
  expect(words.hide(text)).toBe(said)
})

test('what it wrote itself is no news to it, unless somebody else wrote it here', () => {
  expect(words.hide('namespace "ops"')).toBe('namespace "ops"')
  expect(words.hide('namespace "ops"', { byOthers: true })).toBe(`namespace "(another tenant's)"`)
  expect(words.hide('"zqconfig"', { written: ['zqconfig'] })).toBe('"zqconfig"')
})

test('common names, its own names and running text stay', () => {
  for (const text of [
    'tenant dev-team may write to apps, not to kube-system',
    'ClusterRole cluster-admin; Deployment apps/web',
    'a web server of the namespace, see metadata.namespace and rbac.authorization.k8s.io',
    'https://github.com/acme/dev-team and flux-system/flux-system',
  ])
    expect(words.hide(text, { byOthers: true })).toBe(text)
})

test('the platform’s repository that is no fleet is shown no tenant’s names', () => {
  expect(new PrivateWords(verdict, [''], nodes).hide('tenant ops-team in "apps"')).toBe(
    `another tenant in "(another tenant's)"`,
  )
})

test('why a node is held is told without the names of others', () => {
  const applied = {
    key: 'staging/apps/dev-team',
    user: 'system:serviceaccount:apps:dev-team',
    outcome: 'held' as const,
    reason: 'it violates ownership-conflict: ConfigMap zq-x is applied by "ops-team", too',
    objects: [
      {
        object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'apps', name: 'mine' },
        action: 'refused' as const,
        message: 'quota of "zqconfig" exceeded',
      },
    ],
  }
  const [seen] = applyViewFor([applied], { verdict, nodes })
  expect(seen?.reason).toContain(`by "(another tenant's)", too`)
  expect(seen?.objects[0]?.message).toBe(`quota of "(another tenant's)" exceeded`)
})
