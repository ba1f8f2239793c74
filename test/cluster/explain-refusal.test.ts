import { expect, test } from 'vitest'
import { clusterError } from '../../src/cluster/cluster-error.ts'
import { explainRefusal } from '../../src/cluster/ownership.ts'
import type { Json } from '../../src/kube/node.ts'

const VALUE = 'hunter2'
const owner = { namespace: 'apps', name: 'app' }

function said(kind: string, isConfidential: boolean, status: number, message: string, causes: Json = []): string {
  const id = { apiVersion: 'v1', kind, namespace: 'apps', name: 'settings' }
  const error = clusterError('staging', status, { message, reason: 'Invalid', details: { causes } })
  const explained = explainRefusal(error, { id, owner, attempted: 'dry-run', isConfidential })
  return JSON.stringify([explained, String(explained), (explained as { fix?: string }).fix])
}

const QUOTING: [string, number, string, Json?][] = [
  ['a wrong type', 422, `data.key: Invalid value: "${VALUE}"`],
  ['a field', 422, 'invalid', [{ reason: 'FieldValueInvalid', field: 'data.key', message: `"${VALUE}"` }]],
  ['a webhook that forbids', 403, `admission webhook "x.test" denied the request: ${VALUE}`],
  ['a webhook in the words of RBAC', 403, `secrets "a" is forbidden: User "b" cannot patch resource "x" and ${VALUE}`],
  ['a quota', 403, `secrets "${VALUE}" is forbidden: exceeded quota`],
  ['a webhook that conflicts', 409, `Conflict: ${VALUE}`],
  ['a webhook that is down', 500, `failed calling webhook: ${VALUE}`],
]

test.each(QUOTING)('no refusal quotes what is confidential: %s', (_, status, message, causes = []) => {
  expect(said('Secret', false, status, message, causes)).not.toContain(VALUE)
  expect(said('ConfigMap', true, status, message, causes)).not.toContain(VALUE)
  expect(said('ConfigMap', true, status, message, causes)).toContain('the API server refuses ConfigMap apps/settings')
  expect(said('ConfigMap', false, status, message, causes)).toContain(VALUE)
})

test('what a person needs and cannot hold a value is said of a Secret too', () => {
  const right =
    'secrets "settings" is forbidden: User "system:serviceaccount:apps:dev-team" cannot patch resource "secrets" in API group "" in the namespace "apps"'
  const conflict = [{ reason: 'FieldManagerConflict', field: '.data.key', message: 'conflict with "kubectl"' }]
  expect(said('Secret', true, 403, right)).toContain('cannot patch resource')
  expect(said('Secret', true, 409, 'Apply failed', conflict)).toContain('other managers own .data.key')
  expect(said('Secret', true, 404, 'namespaces \\"apps\\" not found')).toContain('not found')
})
