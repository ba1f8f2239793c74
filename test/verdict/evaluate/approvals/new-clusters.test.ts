import { describe, expect, test } from 'vitest'
import { changesOf } from '../../../../src/verdict/diff/changes-of.ts'
import { instanceText } from '../../../fleet/clusters/instance-text.ts'
import { configMap, syncText } from '../../../fleet/clusters/sync-text.ts'
import { evaluationOf, type Files, fleetOf, type Given } from '../../../fleet/fleet-of.ts'
import { FLEET_URL, miniFleet } from '../../../fleet/mini-fleet.ts'

const sync = (path: string) => syncText({ path: `./${path}`, url: FLEET_URL })
const binding = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: e}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: dev-team, namespace: apps}]
`
const started = (path: string): Files => ({ [`${path}/gotk-sync.yaml`]: sync(path), [`${path}/e.yaml`]: binding })
const instance = (more = '') => instanceText({ path: 'operated', url: FLEET_URL }) + more
const operated: Files = { 'flux/instance.yaml': instance(), 'operated/a.yaml': configMap('a') }
const given = (...files: Files[]): Given => miniFleet({ fleet: Object.assign({}, ...files) })
const approvals = (head: Given, base: Given) =>
  evaluationOf(head, { base }).verdict.requiredApprovals.map(({ rule, message, path }) => `${rule} ${path} ${message}`)

const NEW = 'as soon as Flux is started there'

describe('a cluster that the base does not have needs an approval, and its objects are listed', () => {
  test.each<[what: string, files: Files, cluster: string]>([
    ['a sync in a folder of no cluster', started('tenantdirs/dev'), 'tenantdirs-dev'],
    ['below another cluster', started('clusters/staging/sub'), 'staging-sub'],
    ['another case of letters', started('Clusters/prod'), 'prod'],
    ['a folder of the layout', { 'clusters/lab/e.yaml': binding }, 'lab'],
    [
      'a FluxInstance in a file that nothing applies',
      { 'fi/fi.yaml': instanceText({ path: 'evil', url: FLEET_URL }), 'evil/e.yaml': binding },
      'evil',
    ],
  ])('%s', (_what, files, cluster) => {
    const [head, base] = [given(files), given()]
    const asked = approvals(head, base)
    expect(asked).toHaveLength(1)
    expect(asked[0]).toContain(`cluster ${cluster} is new: `)
    expect(asked[0]).toContain(NEW)
    const { nodes, clusters } = changesOf(fleetOf(base), fleetOf(head))
    expect(clusters).toEqual([{ name: cluster, change: 'added' }])
    expect(
      nodes.filter(node => node.cluster === cluster).flatMap(node => node.objects.map(({ id }) => id.kind)),
    ).toContain('ClusterRoleBinding')
  })

  test('once it is there, nothing is asked for', () => {
    const base = given(started('kubernetes/lab'))
    expect(approvals(given(started('kubernetes/lab'), { 'kubernetes/lab/f.yaml': configMap('f') }), base)).toEqual([])
  })
})

describe('another object that starts a cluster of the base', () => {
  const loose = instance().replace(/spec:\n/, 'spec:\n  cluster: {multitenant: false}\n')

  test.each<[what: string, files: Files]>([
    ['in the same file', { 'flux/instance.yaml': `${instance()}---\n${loose}` }],
    ['before it', { 'flux/a.yaml': loose }],
    ['in another file', { 'other/instance.yaml': loose }],
  ])('%s needs an approval', (_what, files) => {
    expect(loose).not.toBe(instance())
    const asked = approvals(given(operated, files), given(operated))
    expect(asked).toHaveLength(1)
    expect(asked[0]).toContain('defines the start of cluster operated a second time')
  })

  test('one that says the same needs none, nor one of the base', () => {
    expect(approvals(given(operated, { 'other/instance.yaml': instance() }), given(operated))).toEqual([])
    const both = given(operated, { 'other/instance.yaml': loose })
    expect(
      approvals(given(operated, { 'other/instance.yaml': loose, 'operated/b.yaml': configMap('b') }), both),
    ).toEqual([])
  })
})

describe('a cluster that starts from where a tenant deploys', () => {
  const tenant: Files = {
    'clusters/staging/kustomization.yaml': 'resources: [flux-system, tenants.yaml, shared.yaml]\n',
    'clusters/staging/shared.yaml': `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: shared, namespace: apps}
spec:
  interval: 5m
  prune: true
  path: ./work/dev
  serviceAccountName: dev-team
  targetNamespace: apps
  sourceRef: {kind: GitRepository, name: shared}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: shared, namespace: apps}
spec: {url: ${FLEET_URL}, ref: {branch: main}, interval: 1m}
`,
    'work/dev/a.yaml': configMap('a'),
    'work/dev/kustomization.yaml': 'resources: [a.yaml]\n',
  }
  const violations = (files: Files) =>
    evaluationOf(given(tenant, files), { base: given(tenant) })
      .verdict.violations.filter(({ state }) => state === 'new')
      .map(({ rule, cluster, origin }) => `${rule} ${cluster} ${origin.file}`)

  test.each<[what: string, files: Files, file: string]>([
    ['in a folder below', started('work/dev/lab'), 'work/dev/lab/gotk-sync.yaml'],
    ['in the folder itself', started('work/dev'), 'work/dev/gotk-sync.yaml'],
    [
      'by a file in it',
      { 'work/dev/fi.yaml': instanceText({ path: 'elsewhere', url: FLEET_URL }), 'elsewhere/a.yaml': configMap('a') },
      'work/dev/fi.yaml',
    ],
  ])('is a violation: %s', (_what, files, file) => {
    expect(violations(files)).toContain(`flux-control-plane-object staging ${file}`)
  })

  test('is none beside it', () => {
    expect(violations({ 'work/lab/gotk-sync.yaml': sync('work/lab'), 'work/lab/a.yaml': configMap('a') })).toEqual([])
  })
})
