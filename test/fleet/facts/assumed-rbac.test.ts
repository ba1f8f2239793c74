import { expect, test } from 'vitest'
import { FleetIndex } from '../../../src/fleet/facts/fleet-index.ts'
import { installedRbac } from '../../../src/flux/installed-rbac.ts'
import { userInfo, userOfAccount } from '../../../src/kube/rbac/policy-rule.ts'
import { type Files, fleetOf } from '../fleet-of.ts'
import { FLEET_URL, fleetFiles } from '../mini-fleet.ts'

const FLUX = 'clusters/staging/flux-system'
const PLACEHOLDER = '# This file will be generated automatically by flux bootstrap.\n'
const NAMES = ['cluster-reconciler', 'crd-controller', 'crd-controller', 'flux-edit', 'flux-view']

const kustomization = (patches: string) => `resources: [gotk-components.yaml, gotk-sync.yaml]\npatches:\n${patches}`
const WITHOUT_EDIT = `  - target: {kind: ClusterRole, name: flux-edit-flux-system}
    patch: |
      apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRole
      metadata: {name: flux-edit-flux-system}
      $patch: delete
`
const LISTED = `  - target: {kind: ClusterRole, name: flux-edit-flux-system}
    patch: |
      - {op: replace, path: /rules/0/resources, value: [gitrepositories, kustomizations]}
`
const RECONCILER = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: cluster-reconciler-flux-system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: kustomize-controller, namespace: flux-system}]
`
const EDITOR = `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: editor, namespace: apps}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
subjects: [{kind: ServiceAccount, name: editor, namespace: apps}]
`
const instance = (patches: string) => `apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata: {name: flux, namespace: flux-system}
spec:
  distribution: {version: 2.7.3}
  sync: {kind: GitRepository, url: ${FLEET_URL}, ref: refs/heads/main, path: clusters/staging}
${patches}`

const EMPTY = { [`${FLUX}/gotk-components.yaml`]: PLACEHOLDER, [`${FLUX}/gotk-sync.yaml`]: PLACEHOLDER }

function indexOf(files: Files, without: readonly string[] = []) {
  const given = { ...fleetFiles, 'tenants/kustomization.yaml': 'resources: [dev-team.yaml, editor.yaml]\n' }
  const all = Object.entries({ ...given, 'tenants/editor.yaml': EDITOR, ...files })
  const fleet = fleetOf({ url: FLEET_URL, fleet: Object.fromEntries(all.filter(([path]) => !without.includes(path))) })
  expect(fleet.clusters.map(({ name }) => name)).toEqual(['staging'])
  return new FleetIndex(fleet)
}
const assumed = (index: FleetIndex) =>
  index.assumedRbac('staging').map(({ root }) => {
    const metadata = root.fields.get('metadata')?.value
    const name = metadata?.type === 'map' ? metadata.fields.get('name')?.value : undefined
    return name?.type === 'scalar' ? String(name.value).replace('-flux-system', '') : ''
  })
const withoutOperator = (index: FleetIndex) =>
  assumed(index)
    .filter(name => !name.startsWith('flux-operator'))
    .sort()
function may(index: FleetIndex, account: string, verb: string, resource: string, apiGroup = '') {
  const [namespace = '', name = ''] = account.split('/')
  const [kind = '', subresource] = resource.split('/')
  const request = {
    verb,
    apiGroup,
    resource: kind,
    ...(subresource ? { subresource } : {}),
    namespace: 'apps',
    name: 'x',
  }
  return index.authorizer('staging').allows(userInfo(userOfAccount(namespace, name)), request)
}
const SOURCE = 'source.toolkit.fluxcd.io'

test.each<[string, Files, string[]]>([
  ['components are a placeholder', { ...EMPTY, [`${FLUX}/kustomization.yaml`]: kustomization('  []\n') }, []],
  ['nothing of Flux is visible', { 'clusters/staging/kustomization.yaml': 'resources: [tenants.yaml]\n' }, []],
  [
    'a FluxInstance installs it',
    {
      'clusters/staging/kustomization.yaml': 'resources: [flux.yaml, tenants.yaml]\n',
      'clusters/staging/flux.yaml': instance(''),
    },
    Object.keys(fleetFiles).filter(path => path.startsWith(FLUX)),
  ],
])('Flux has its own rights where %s', (_name, files, without) => {
  const index = indexOf(files, without)
  expect(withoutOperator(index)).toEqual(NAMES)
  expect(may(index, 'flux-system/helm-controller', 'patch', 'deployments', 'apps')).toBe(true)
  expect(may(index, 'flux-system/source-controller', 'get', 'secrets')).toBe(true)
  expect(may(index, 'flux-system/source-controller', 'patch', 'deployments', 'apps')).toBe(false)
  expect(may(index, 'apps/editor', 'patch', 'gitrepositories/status', SOURCE)).toBe(true)
  expect(may(index, 'apps/editor', 'patch', 'gitrepositories', 'other.example.org')).toBe(false)
})

test('flux-operator may do everything where a FluxInstance is, and nothing where none is', () => {
  const files = {
    'clusters/staging/kustomization.yaml': 'resources: [flux.yaml, tenants.yaml]\n',
    'clusters/staging/flux.yaml': instance(''),
  }
  const operated = indexOf(
    files,
    Object.keys(fleetFiles).filter(path => path.startsWith(FLUX)),
  )
  const set = ['flux-system/flux-operator', 'patch', 'resourcesets', 'fluxcd.controlplane.io'] as const
  expect(may(operated, ...set)).toBe(true)
  // the chart and the manifests of flux-operator let those who edit a namespace write ResourceSets there, and no FluxInstance
  const asEditor = (resource: string) => may(operated, 'apps/editor', 'patch', resource, 'fluxcd.controlplane.io')
  expect(['resourcesets', 'resourcesetinputproviders', 'resourcesets/status', 'fluxinstances'].map(asEditor)).toEqual([
    true,
    true,
    false,
    false,
  ])
  const placeholder = indexOf({ ...EMPTY, [`${FLUX}/kustomization.yaml`]: kustomization('  []\n') })
  expect(may(placeholder, ...set)).toBe(false)
})

test.each([
  ['creates the roles', '{}', true],
  ['leaves the roles out', '{rbac: {createAggregation: false}}', false],
  ['keeps the roles of the pages for itself', '{web: {rbac: {createAggregation: false}}}', true],
])('flux-operator where the release of its chart %s', (_name, values, has) => {
  const release = `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: operator, namespace: flux-system}
spec: {interval: 1h, url: oci://ghcr.io/controlplaneio-fluxcd/charts/flux-operator, ref: {tag: 0.50.0}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: flux-operator, namespace: flux-system}
spec: {interval: 1h, chartRef: {kind: OCIRepository, name: operator}, values: ${values}}
`
  const files = {
    'clusters/staging/kustomization.yaml': 'resources: [flux.yaml, operator.yaml, tenants.yaml]\n',
    'clusters/staging/flux.yaml': instance(''),
    'clusters/staging/operator.yaml': release,
  }
  const operated = indexOf(
    files,
    Object.keys(fleetFiles).filter(path => path.startsWith(FLUX)),
  )
  const group = 'fluxcd.controlplane.io'
  expect(may(operated, 'apps/editor', 'patch', 'resourcesets', group)).toBe(has)
  expect(may(operated, 'apps/editor', 'get', 'resourcesetinputproviders', group)).toBe(has)
  expect(may(operated, 'apps/editor', 'patch', 'gitrepositories', SOURCE)).toBe(true)
  expect(may(operated, 'flux-system/flux-operator', 'patch', 'resourcesets', group)).toBe(true)
})

test('what patches do to it counts, for a placeholder and for a FluxInstance', () => {
  const patched = (patches: string) => indexOf({ ...EMPTY, [`${FLUX}/kustomization.yaml`]: kustomization(patches) })
  const without = patched(WITHOUT_EDIT)
  expect(assumed(without)).not.toContain('flux-edit')
  expect(may(without, 'apps/editor', 'patch', 'gitrepositories', SOURCE)).toBe(false)
  expect(may(without, 'apps/editor', 'get', 'gitrepositories', SOURCE)).toBe(true)
  const listed = patched(LISTED)
  expect(may(listed, 'apps/editor', 'patch', 'gitrepositories', SOURCE)).toBe(true)
  expect(may(listed, 'apps/editor', 'patch', 'gitrepositories/status', SOURCE)).toBe(false)
  const files = {
    'clusters/staging/kustomization.yaml': 'resources: [flux.yaml, tenants.yaml]\n',
    'clusters/staging/flux.yaml': instance(`  kustomize:\n    patches:\n${LISTED.replaceAll(/^/gm, '    ')}`.trimEnd()),
  }
  const operated = indexOf(
    files,
    Object.keys(fleetFiles).filter(path => path.startsWith(FLUX)),
  )
  expect(withoutOperator(operated)).toEqual(NAMES)
  expect(may(operated, 'apps/editor', 'patch', 'gitrepositories/status', SOURCE)).toBe(false)
})

test('where the fleet renders Flux with its roles, those are all', () => {
  const components = `${fleetFiles[`${FLUX}/gotk-components.yaml`]}---\n${RECONCILER}`
  const index = indexOf({ [`${FLUX}/gotk-components.yaml`]: components })
  expect(assumed(index)).toEqual([])
  expect(may(index, 'flux-system/kustomize-controller', 'patch', 'deployments', 'apps')).toBe(true)
  expect(may(index, 'flux-system/helm-controller', 'patch', 'deployments', 'apps')).toBe(false)
  expect(may(index, 'apps/editor', 'patch', 'gitrepositories', SOURCE)).toBe(false)
  // only the Deployments
  expect(assumed(indexOf({})).sort()).toEqual(NAMES)
})

test('a role that only the fleet renders beside a placeholder counts instead of the assumed one', () => {
  const role = JSON.stringify({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'flux-edit-flux-system' },
    rules: [],
  })
  const files = {
    ...EMPTY,
    [`${FLUX}/kustomization.yaml`]: kustomization('  []\n'),
    'tenants/editor.yaml': `${EDITOR}---\n${role}\n`,
  }
  const index = indexOf(files)
  expect(assumed(index).sort()).toEqual(NAMES.filter(name => name !== 'flux-edit'))
  expect(may(index, 'apps/editor', 'patch', 'gitrepositories', SOURCE)).toBe(false)
})

test('what is assumed is read once for all clusters', () => {
  const [one, other] = [indexOf(EMPTY), indexOf(EMPTY)]
  expect(one.assumedRbac('staging')[0]).toBe(other.assumedRbac('staging')[0])
  expect(installedRbac('v2.7.1')).toBe(installedRbac('v2.7.1'))
})
