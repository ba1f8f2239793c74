import { expect, test } from 'vitest'
import { commitStatus } from '../../src/report/applied/commit-status.ts'
import type { AppliedNode } from '../../src/report/apply-report.ts'

const object = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'apps', name: 'a' }
const node = (more: Partial<AppliedNode> = {}): AppliedNode => ({
  key: 'staging/flux-system/Apps',
  user: 'system:serviceaccount:apps:reconciler',
  outcome: 'applied',
  objects: [],
  ...more,
})

// the words are those of notification-controller for the reason of kustomize-controller's event
test.each([
  ['applied', node({ objects: [{ object, action: 'created' }] }), 'success', 'reconciliation succeeded'],
  ['failed', node({ outcome: 'failed', reason: 'no answer' }), 'failure', 'reconciliation failed'],
  ['an object refused', node({ objects: [{ object, action: 'refused' }] }), 'failure', 'reconciliation failed'],
  [
    'not pruned',
    node({ objects: [{ object, action: 'refused' }], ready: 'PruneFailed' }),
    ...['failure', 'prune failed'],
  ],
  [
    'not healthy',
    node({ outcome: 'failed', reason: 'timeout', ready: 'HealthCheckFailed' }),
    ...['failure', 'health check failed'],
  ],
  ['held', node({ outcome: 'held', reason: 'the commit is not approved' }), 'failure', 'not approved'],
])('%s', (_, applied, state, description) => {
  expect(commitStatus(applied)).toEqual({ context: 'kustomization/apps/0b1bb1fc', state, description })
})

test.each([
  ['health checks run', node({ reason: 'its health checks still run' })],
  ['a dependency is not ready', node({ outcome: 'held', reason: 'waits', ready: 'DependencyNotReady' })],
  ['it is suspended', node({ outcome: 'held', reason: 'suspended', ready: 'Suspended' })],
])('nothing is said while %s', (_, applied) => {
  expect(commitStatus(applied)).toBeUndefined()
})

test('clusters and namespaces have contexts of their own, the longest names fit, and nothing of a reason is told', () => {
  const name = 'a'.repeat(253)
  const keys = [
    'staging/apps/x',
    'production/apps/x',
    'staging/more/x',
    `staging/apps/${name}`,
    `staging/apps/${name}b`,
  ]
  const all = keys.map(key => commitStatus(node({ key, outcome: 'failed', reason: 's3cret of acme/private' }))!)
  expect(new Set(all.map(({ context }) => context)).size).toBe(keys.length)
  for (const { context } of all) expect(context.length).toBeLessThanOrEqual(255)
  expect(JSON.stringify(all)).not.toContain('s3cret')
})
