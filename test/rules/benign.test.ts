import { expect, test } from 'vitest'
import { evaluationOf, said } from '../fleet/fleet-of.ts'
import { fleetFiles, miniFleet, withResource } from '../fleet/mini-fleet.ts'

const dev = (content: string) => said(evaluationOf(miniFleet({ dev: withResource(content) })))
const platform = (content: string) =>
  said(
    evaluationOf(
      miniFleet({
        fleet: {
          'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, more.yaml]\n',
          'tenants/more.yaml': content,
        },
      }),
    ),
  )
const overlay = 'clusters/staging/flux-system/kustomization.yaml'
const unlocked = { [overlay]: fleetFiles[overlay]!.slice(0, fleetFiles[overlay]!.indexOf('patches')) }

test('a tenant’s roles, policies and workloads in its own namespace', () => {
  const kinds = [
    ['rbac.authorization.k8s.io/v1', 'Role'],
    ['rbac.authorization.k8s.io/v1', 'RoleBinding'],
    ['networking.k8s.io/v1', 'NetworkPolicy'],
    ['networking.k8s.io/v1', 'Ingress'],
    ['monitoring.coreos.com/v1', 'ServiceMonitor'],
    ['cert-manager.io/v1', 'Certificate'],
    ['batch/v1', 'CronJob'],
  ]
  const text = kinds.map(
    ([apiVersion, kind]) => `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: x, namespace: apps}\n`,
  )
  expect(dev(text.join('---\n'))).toEqual([])
})

test('a list, and an object with items of its own', () => {
  expect(
    dev(
      'apiVersion: v1\nkind: List\nitems:\n  - apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: a, namespace: apps}\n',
    ),
  ).toEqual([])
  expect(
    dev(
      'apiVersion: v1\nkind: List\nitems:\n  - apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: a, namespace: ops}\n',
    ),
  ).toEqual(['namespace-confinement deploy/extra.yaml:6'])
})

test('text that looks like a manifest inside a value', () => {
  expect(
    dev(
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: apps}\ndata:\n  a: |\n    kind: ClusterRoleBinding\n    ---\n    items:\n',
    ),
  ).toEqual([])
})

test('the platform’s Kustomizations may cross namespaces and depend on each other', () => {
  const ks = `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: media, namespace: default}\nspec:\n  sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}\n  dependsOn: [{name: tenants, namespace: flux-system}]\n  path: ./media\n  prune: true\n`
  const fleet = {
    ...unlocked,
    'tenants/kustomization.yaml': 'resources: [ks.yaml]\n',
    'tenants/ks.yaml': ks,
    'media/kustomization.yaml': 'resources: [a.yaml]\n',
    'media/a.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: media}\n',
  }
  expect(said(evaluationOf(miniFleet({ fleet })))).toEqual([])
})

test('the platform’s cluster-wide roles, and a release without account in a namespace of its own', () => {
  expect(platform('apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: x}\n')).toEqual(
    [],
  )
  expect(
    platform(
      'apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: x, namespace: monitoring}\nspec: {}\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: default, namespace: monitoring}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}\nsubjects: [{kind: ServiceAccount, name: default, namespace: monitoring}]\n',
    ),
  ).toEqual([])
})

test('an account that a patch of the platform adds', () => {
  const text = fleetFiles['tenants/dev-team.yaml']!.replace('  serviceAccountName: dev-team\n', '')
  const fleet = {
    'tenants/dev-team.yaml': text,
    'tenants/kustomization.yaml':
      'resources: [dev-team.yaml, ops-team.yaml]\npatches:\n  - target: {kind: (HelmRelease|Kustomization), name: dev-team}\n    patch: |\n      - op: add\n        path: /spec/serviceAccountName\n        value: dev-team\n',
  }
  expect(said(evaluationOf(miniFleet({ fleet })))).toEqual([])
})

test('a remote base of a platform that allows them is not visible, and no violation', () => {
  const given = miniFleet({
    fleet: { ...unlocked, 'tenants/kustomization.yaml': 'resources: ["https://example.com/x.yaml"]\n' },
  })
  const { verdict } = evaluationOf(given)
  expect(verdict.violations).toEqual([])
  expect(verdict).toMatchObject({ errors: [], notSeen: [{ url: 'https://example.com/x.yaml' }] })
  expect(evaluationOf(given, { base: given }).verdict.result).toBe('pass')
})

test('several kustomization files in one directory are an error', () => {
  const { verdict } = evaluationOf(miniFleet({ dev: { 'deploy/kustomization.yml': 'resources: []\n' } }))
  expect(verdict).toMatchObject({ result: 'error', errors: [{ code: 'kustomize-multiple-files', tenant: 'dev-team' }] })
})
