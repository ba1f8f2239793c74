import { expect, test } from 'vitest'
import { evaluationOf, type Files, fleetOf, said } from '../fleet-of.ts'
import { FLEET_URL, fleetFiles, miniFleet } from '../mini-fleet.ts'
import { instanceText } from './instance-text.ts'
import { configMap, syncText } from './sync-text.ts'

/** The fleet, in whose own repository a tenant writes the folder `tenants/evil`. */
const TENANT = `apiVersion: v1
kind: Namespace
metadata: {name: evil, labels: {toolkit.fluxcd.io/tenant: evil}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: evil, namespace: evil}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: evil, namespace: evil}
spec:
  serviceAccountName: evil
  interval: 5m
  prune: true
  targetNamespace: evil
  path: ./tenants/evil
  sourceRef: {kind: GitRepository, name: evil}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: evil, namespace: evil}
spec: {interval: 5m, url: ${FLEET_URL}, ref: {branch: main}}
`
const LISTED = { 'clusters/staging/kustomization.yaml': 'resources: [flux-system, tenants.yaml, evil.yaml]\n' }
const before: Files = {
  ...fleetFiles,
  ...LISTED,
  'clusters/staging/evil.yaml': TENANT,
  'tenants/evil/a.yaml': configMap('a'),
}
const namesOf = (files: Files) => fleetOf(miniFleet({ fleet: files })).clusters.map(({ name }) => name)

test('a tenant whose folder is in the fleet is one', () => {
  expect(namesOf(before)).toEqual(['staging'])
  expect(fleetOf(miniFleet({ fleet: before })).tenants.map(({ name }) => name)).toContain('evil')
})

test.each([
  [
    'as bootstrap writes it',
    'tenants/evil/flux-system/gotk-sync.yaml',
    syncText({ path: './tenants/evil', url: FLEET_URL }),
  ],
  [
    'under another name',
    'tenants/evil/own.yaml',
    syncText({ path: './tenants/evil', url: FLEET_URL, name: 'own', namespace: 'evil' }),
  ],
  ['deeper', 'tenants/evil/deep/sync.yaml', syncText({ path: './tenants/evil/deep', url: FLEET_URL })],
  ['of a FluxInstance', 'tenants/evil/flux.yaml', instanceText({ path: 'tenants/evil', url: FLEET_URL })],
  ['that leads out of it', 'tenants/evil/sync.yaml', syncText({ path: './tenants/base', url: FLEET_URL })],
  ['of comments', 'tenants/evil/flux-system/gotk-sync.yaml', '# by bootstrap\n'],
])('a root that a tenant makes in its own folder is none: %s', (_what, file, text) => {
  const after = { ...before, [file]: text }
  expect(namesOf(after)).toEqual(['staging'])
  const { nodes } = fleetOf(miniFleet({ fleet: after }))
  const own = nodes.filter(({ path }) => path.includes('tenants/evil'))
  expect([...new Set(own.map(({ tenant }) => tenant))]).toEqual(['evil'])
})

test('a second sync of the same folder, name and source takes nothing over', () => {
  const shadow = syncText({ path: './clusters/staging', url: FLEET_URL })
  const after = { ...fleetFiles, 'a/flux-system/gotk-sync.yaml': shadow }
  expect(namesOf(after)).toEqual(['staging'])
  const [root] = fleetOf(miniFleet({ fleet: after })).nodes
  expect(root!.kustomization.root.origin.file).toBe('clusters/staging/flux-system/gotk-sync.yaml')
})

test('a second sync of the same folder that follows something else is another cluster, which is not visible', () => {
  const shadow = syncText({ path: './clusters/staging', url: 'https://github.com/evil/fleet', branch: 'main' })
  const after = { ...fleetFiles, 'a/flux-system/gotk-sync.yaml': shadow }
  expect(namesOf(after)).toEqual(['staging', 'staging-main'])
  const roots = fleetOf(miniFleet({ fleet: after })).nodes.filter(({ parent }) => parent === undefined)
  expect(roots.map(({ cluster, source, objects }) => [cluster, source.url, objects.length > 0])).toEqual([
    ['staging', FLEET_URL, true],
    ['staging-main', 'https://github.com/evil/fleet', false],
  ])
})

test('a change that takes the sync away is judged by what it still applies', () => {
  const hub = {
    'hub/flux-system/gotk-sync.yaml': syncText({ path: './hub', url: FLEET_URL }),
    'hub/a.yaml': configMap('a'),
  }
  const admin = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: evil}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: evil, namespace: evil}]
`
  const given = (fleet: Files) => ({ fleet })
  const base = given({ ...hub, 'hub/evil.yaml': TENANT, 'tenants/evil/a.yaml': configMap('a') })
  const { 'hub/flux-system/gotk-sync.yaml': _sync, ...rest } = base.fleet
  const found = said(evaluationOf(given({ ...rest, 'hub/admin.yaml': admin }), { base }))
  expect(found.join()).toContain('hub/admin.yaml')
})

test('what a tenant itself leads to hides no cluster', () => {
  const all = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: all, namespace: evil}
spec: {serviceAccountName: evil, interval: 5m, prune: true, path: ./, sourceRef: {kind: GitRepository, name: evil}}
`
  const hub = {
    'hub/flux-system/gotk-sync.yaml': syncText({ path: './hub', url: FLEET_URL }),
    'hub/a.yaml': configMap('a'),
  }
  expect(namesOf({ ...before, ...hub, 'tenants/evil/all.yaml': all })).toEqual(['hub', 'staging'])
})
