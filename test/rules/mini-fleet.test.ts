import { expect, test } from 'vitest'
import { evaluationOf, said } from '../fleet/fleet-of.ts'
import { DEPLOYMENT, fleetFiles, miniFleet, withResource } from '../fleet/mini-fleet.ts'

const dev = (content: string) => said(evaluationOf(miniFleet({ dev: withResource(content) })))
const warned = (content: string) =>
  evaluationOf(miniFleet({ dev: withResource(content) })).verdict.warnings.map(
    ({ rule, origin }) => `${rule} ${origin.file}:${origin.line}`,
  )
const fleet = (file: string, from: string, to: string) => {
  expect(fleetFiles[file]).toContain(from)
  return said(evaluationOf(miniFleet({ fleet: { [file]: fleetFiles[file]!.replace(from, to) } })))
}

test('a fleet as it should be has no finding', () => {
  const { verdict, nodes } = evaluationOf(miniFleet())
  expect(verdict).toMatchObject({ result: 'pass', violations: [], errors: [], warnings: [], notSeen: [] })
  expect(nodes.map(node => [node.key, node.tenant, node.user])).toEqual([
    ['staging/flux-system/flux-system', null, 'system:serviceaccount:flux-system:kustomize-controller'],
    ['staging/flux-system/tenants', null, 'system:serviceaccount:flux-system:kustomize-controller'],
    ['staging/apps/dev-team', 'dev-team', 'system:serviceaccount:apps:dev-team'],
    ['staging/ops/ops-team', 'ops-team', 'system:serviceaccount:ops:ops-team'],
  ])
  expect(nodes.every(node => node.impersonated && node.digest !== '')).toBe(true)
})

const manifest = (apiVersion: string, kind: string, rest = '', namespace = 'apps') =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: x\n  namespace: ${namespace}\n${rest}`
const kustomization = (spec: string, namespace = 'apps') =>
  manifest(
    'kustomize.toolkit.fluxcd.io/v1',
    'Kustomization',
    `spec:\n  sourceRef: {kind: GitRepository, name: dev-team}\n  path: ./nothing\n${spec}`,
    namespace,
  )

test.each([
  ['absent', '', 6],
  ['empty', '  serviceAccountName: ""\n', 9],
  ['null', '  serviceAccountName: null\n', 9],
  ['blank', '  serviceAccountName: "  "\n', 9],
])('sa-required: a Kustomization whose account is %s', (_what, line, at) => {
  expect(dev(kustomization(line))).toContain(`sa-required deploy/extra.yaml:${at}`)
})

test.each([
  ['HelmRelease', 'helm.toolkit.fluxcd.io/v2', 'spec: {chartRef: {kind: OCIRepository, name: x}}\n'],
  ['ResourceSet', 'fluxcd.controlplane.io/v1', 'spec: {resources: []}\n'],
])('sa-required: a %s without account', (kind, apiVersion, rest) => {
  expect(dev(manifest(apiVersion, kind, rest))).toEqual(['sa-required deploy/extra.yaml:6'])
})

test('sa-required: a tenant’s Kustomization that the platform renders without account', () => {
  const lines = fleetFiles['tenants/dev-team.yaml']!.split('\n')
  const specLine = lines.indexOf('spec:', lines.indexOf('kind: Kustomization')) + 1
  const { verdict } = evaluationOf(
    miniFleet({
      fleet: {
        'tenants/dev-team.yaml': fleetFiles['tenants/dev-team.yaml']!.replace('  serviceAccountName: dev-team\n', ''),
      },
    }),
  )
  expect(verdict).toMatchObject({
    result: 'fail',
    summary: expect.stringMatching(/^1 violation in dev-team \(staging\)\. .*Evaluated: 4 Kustomizations, /),
  })
  expect(verdict.violations[0]).toMatchObject({
    rule: 'sa-required',
    tenant: 'dev-team',
    node: 'staging/apps/dev-team',
    field: '/spec/serviceAccountName',
    origin: { repository: 'https://github.com/acme/fleet', file: 'tenants/dev-team.yaml', line: specLine },
  })
})

test('sa-required: absent is fine where the default names an account that the fleet renders', () => {
  const account =
    '---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: default, namespace: apps}\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: default, namespace: apps}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}\nsubjects: [{kind: ServiceAccount, name: default, namespace: apps}]\n'
  const file = fleetFiles['tenants/dev-team.yaml']!.replace('  serviceAccountName: dev-team\n', '')
  const { verdict, nodes } = evaluationOf(miniFleet({ fleet: { 'tenants/dev-team.yaml': file + account } }))
  expect(verdict.violations.map(({ rule }) => rule)).toEqual(['default-sa-privileged'])
  expect(nodes[2]).toMatchObject({ user: 'system:serviceaccount:apps:default', impersonated: true })
})

test.each([
  ['a list', '[dev-team]'],
  ['a number', '12'],
  ['a name with a blank', '"dev team"'],
  ['two lines', '"dev-team\\nevil"'],
  ['another user', '"dev-team:evil"'],
])('an account that is %s is an error, never an identity', (_what, value) => {
  expect(dev(kustomization(`  serviceAccountName: ${value}\n`))).toEqual(['error invalid-object deploy/extra.yaml:9'])
})

test.each([
  ['apps-admin', 'a longer name'],
  ['kube-system', 'a system namespace'],
  ['ops', 'another tenant'],
  ['flux-system', 'the platform'],
])('namespace-confinement: namespace %s, %s', namespace => {
  expect(dev(manifest('v1', 'ConfigMap', '', namespace))).toEqual(['namespace-confinement deploy/extra.yaml:5'])
})

test('namespace-confinement: no namespace at all', () => {
  expect(dev('apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n')).toEqual([
    'namespace-confinement deploy/extra.yaml:3',
  ])
})

test('namespace-confinement: an overlay patch is blamed at its own line, and the other tenant is not named', () => {
  const { verdict } = evaluationOf(
    miniFleet({
      dev: {
        'deploy/kustomization.yaml':
          'resources:\n  - web.yaml\npatches:\n  - target: {kind: Deployment}\n    patch: |\n      - op: replace\n        path: /metadata/namespace\n        value: ops\n',
      },
    }),
  )
  expect(verdict.violations).toHaveLength(1)
  const [violation] = verdict.violations
  expect(violation).toMatchObject({
    rule: 'namespace-confinement',
    origin: { file: 'deploy/kustomization.yaml', line: 8 },
  })
  expect(violation!.via.map(step => step.step)).toContain('patch')
  expect(violation!.message + violation!.fix).not.toContain('ops-team')
})

test('namespace-confinement: the kustomization of another tenant’s namespace is refused and not followed', () => {
  expect(dev(kustomization('  serviceAccountName: ops-team\n', 'ops'))).toEqual([
    'namespace-confinement deploy/extra.yaml:5',
  ])
})

test('target-namespace: what nobody can see is judged by where targetNamespace puts it', () => {
  const opaque = (namespace: string) =>
    `${manifest('source.toolkit.fluxcd.io/v1', 'OCIRepository', 'spec: {url: oci://ghcr.io/y}\n')}---\n${kustomization(`  serviceAccountName: dev-team\n  targetNamespace: ${namespace}\n`).replace('{kind: GitRepository, name: dev-team}', '{kind: OCIRepository, name: x}')}`
  expect(dev(opaque('ops'))).toEqual(['target-namespace deploy/extra.yaml:17'])
  expect(dev(opaque('apps'))).toEqual([])
})

test.each([
  ['ClusterRole', 'rbac.authorization.k8s.io/v1'],
  ['PriorityClass', 'scheduling.k8s.io/v1'],
  ['GlobalTenantResource', 'capsule.clastix.io/v1beta2'],
])('cluster-scoped-forbidden: %s, with a namespace in it or not', (kind, apiVersion) => {
  expect(dev(manifest(apiVersion, kind))).toEqual(['cluster-scoped-forbidden deploy/extra.yaml:2'])
  expect(dev(`apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: x\n`)).toEqual([
    'cluster-scoped-forbidden deploy/extra.yaml:2',
  ])
})

test('a kind that nobody declares is a warning for a confined account; declared by the platform it is evaluated', () => {
  const thing = manifest('evil.io/v1', 'Thing')
  expect(warned(thing)).toEqual(['unknown-scope deploy/extra.yaml:2'])
  expect(dev(thing)).toEqual([])
  const crd = (scope: string) => ({
    'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, crd.yaml]\n',
    'tenants/crd.yaml': `apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: things.evil.io\nspec:\n  group: evil.io\n  scope: ${scope}\n  names: {kind: Thing, plural: things}\n`,
  })
  expect(said(evaluationOf(miniFleet({ fleet: crd('Namespaced'), dev: withResource(thing) })))).toEqual([])
  expect(said(evaluationOf(miniFleet({ fleet: crd('Cluster'), dev: withResource(thing) })))).toEqual([
    'cluster-scoped-forbidden deploy/extra.yaml:2',
  ])
})

test.each([['"apps "'], ['123'], ['[apps]'], ['Apps']])('namespace %s is an error', namespace => {
  expect(dev(manifest('v1', 'ConfigMap', '', namespace))).toEqual(['error invalid-object deploy/extra.yaml:5'])
})

test('kustomize-remote-base: in a tenant’s overlay and in a locked fleet', () => {
  const remote = 'resources:\n  - web.yaml\n  - https://github.com/evil/x?ref=main\n'
  expect(said(evaluationOf(miniFleet({ dev: { 'deploy/kustomization.yaml': remote } })))).toEqual([
    'kustomize-remote-base deploy/kustomization.yaml:3',
  ])
  expect(fleet('tenants/kustomization.yaml', 'ops-team.yaml]', 'ops-team.yaml, github.com/evil/x]')).toEqual([
    'kustomize-remote-base tenants/kustomization.yaml:1',
  ])
})

test('the platform’s own objects do not break the rules of tenants', () => {
  const platform = `${manifest('v1', 'ConfigMap', '', 'apps')}---\n${manifest('rbac.authorization.k8s.io/v1', 'ClusterRole')}---\n${manifest('evil.io/v1', 'Unknown', '', 'anywhere')}`
  const files = {
    'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, platform.yaml]\n',
    'tenants/platform.yaml': platform,
  }
  expect(said(evaluationOf(miniFleet({ fleet: files })))).toEqual([])
})

test('a rule that is switched off says nothing', () => {
  const given = {
    ...miniFleet({ dev: withResource(DEPLOYMENT.replace('namespace: apps', 'namespace: ops')) }),
    disabledRules: ['namespace-confinement'],
  }
  expect(said(evaluationOf(given))).toEqual([])
})

test('a tenant’s own word about kinds and accounts is not believed', () => {
  const crd =
    'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: things.evil.io\nspec:\n  group: evil.io\n  scope: Namespaced\n  names: {kind: Thing, plural: things}\n'
  const account = manifest('v1', 'ServiceAccount').replace('name: x', 'name: default')
  const both = `${crd}---\n${manifest('evil.io/v1', 'Thing')}`
  expect(dev(both)).toContain('cluster-scoped-forbidden deploy/extra.yaml:2')
  expect(warned(both)).toContain('unknown-scope deploy/extra.yaml:11')
  expect(dev(`${account}---\n${kustomization('')}`)).toContain('sa-required deploy/extra.yaml:12')
})
