import { expect, test } from 'vitest'
import table from '../../src/flux/installed-rbac.json' with { type: 'json' }
import { INSTALLED_ACCOUNTS, installedRbac, isInstalledRbac } from '../../src/flux/installed-rbac.ts'
import { installedRbacRows } from './installed-rbac-table.ts'

const EXTENSIONS = 'source.extensions.fluxcd.io'
const text = (version?: string) => JSON.stringify(installedRbac(version))

test('the manifests are read back as the rows of the table that the script wrote', () => {
  for (const version of ['2.0.0', '2.3.0', '2.6.0', '2.7.0', '2.7.4']) {
    const named = JSON.stringify(installedRbac(version)).replaceAll(/("name":"[^"]+)-flux-system"/g, '$1"')
    const expected = new Map<string, object>()
    for (const { since, ...row } of table) {
      if (since.localeCompare(version) <= 0)
        expected.set(`${row.role ? 'role' : 'binding'} ${row.role ?? row.binding}`, row)
    }
    const byText = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
    const documents = (JSON.parse(named) as object[]).map(one => JSON.stringify(one))
    expect(installedRbacRows(documents).sort(byText)).toEqual([...expected.values()].sort(byText))
  }
})

test('each version has its own rules, and what is not a version the newest', () => {
  expect(text('v2.2.3')).not.toContain('/livez/ping')
  expect(text('v2.3.0')).toContain('/livez/ping')
  expect(text('2.5.1')).not.toContain('serviceaccounts/token')
  expect(text('v2.7.3').split(EXTENSIONS)).toHaveLength(2)
  expect(text('2.7.4').split(EXTENSIONS)).toHaveLength(4)
  for (const newest of ['2.7.x', '~2.7.0', '2.7', '2.x', '^2.2.0', '>=2.2', 'latest', ''])
    expect(text(newest)).toBe(text())
})

test('names carry the namespace of Flux', () => {
  expect(isInstalledRbac('ClusterRole', 'flux-edit-flux-system')).toBe(true)
  expect(isInstalledRbac('ClusterRole', 'flux-edit')).toBe(false)
  expect(isInstalledRbac('Role', 'flux-edit-flux-system')).toBe(false)
  expect(installedRbac()).toContainEqual({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'cluster-reconciler-flux-system' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: ['kustomize-controller', 'helm-controller'].map(name => ({
      kind: 'ServiceAccount',
      name,
      namespace: 'flux-system',
    })),
  })
  expect(INSTALLED_ACCOUNTS).toHaveLength(7)
})
