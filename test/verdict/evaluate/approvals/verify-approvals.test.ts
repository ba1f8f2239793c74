import { expect, test } from 'vitest'
import { FleetSession } from '../../../../src/fleet/graph/fleet-session.ts'
import { evaluationOf, inputOf } from '../../../fleet/fleet-of.ts'
import { FLEET_URL, miniFleet } from '../../../fleet/mini-fleet.ts'

const WORKFLOW = '^https://github\\.com/acme/dev-team/\\.github/workflows/push\\.yaml@refs/heads/main$'
const identity = (subject: string) => ({
  provider: 'cosign',
  matchOIDCIdentity: [{ issuer: '^https://token\\.actions\\.githubusercontent\\.com$', subject }],
})

const instance = (verify?: object) => {
  const patch = JSON.stringify([{ op: 'add', path: '/spec/verify', value: verify }])
  return JSON.stringify({
    apiVersion: 'fluxcd.controlplane.io/v1',
    kind: 'FluxInstance',
    metadata: { name: 'flux', namespace: 'flux-system' },
    spec: {
      distribution: { version: '2.x', registry: 'ghcr.io/fluxcd' },
      sync: { kind: 'OCIRepository', url: 'oci://ghcr.io/acme/fleet', ref: 'stable', path: 'clusters/prod' },
      ...(verify ? { kustomize: { patches: [{ target: { kind: 'OCIRepository' }, patch }] } } : {}),
    },
  })
}

const artifact = (verify: object | undefined, interval = '5m') => `${JSON.stringify({
  apiVersion: 'source.toolkit.fluxcd.io/v1',
  kind: 'OCIRepository',
  metadata: { name: 'more', namespace: 'apps' },
  spec: { interval, url: 'oci://ghcr.io/acme/more', ...(verify ? { verify } : {}) },
})}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: more, namespace: apps}
spec: {interval: 5m, prune: true, path: ./, serviceAccountName: dev-team, sourceRef: {kind: OCIRepository, name: more}}
`

const given = (files: Record<string, string>) => ({
  ...miniFleet({
    fleet: {
      'tenants/kustomization.yaml': `resources: [dev-team.yaml, ops-team.yaml, more.yaml]\n`,
      'tenants/more.yaml': artifact(identity(WORKFLOW)),
      ...files,
    },
  }),
  url: FLEET_URL,
})
const approvals = (after: Record<string, string>, before: Record<string, string>) =>
  evaluationOf(given(after), { base: given(before) })
    .verdict.requiredApprovals.filter(({ rule }) => rule === 'source-verify-removed')
    .map(({ path, message }) => `${path} ${message}`)

const FILE = 'clusters/prod/flux-instance.yaml'

test('a cluster that would take what nobody signed needs an approval', () => {
  const before = { [FILE]: instance(identity(WORKFLOW)) }
  expect(approvals({ [FILE]: instance() }, before)).toEqual([
    `${FILE} "OCIRepository/flux-system/flux-system" on cluster "prod" is no longer verified: Flux would deploy content that it refused before`,
  ])
  expect(approvals({ [FILE]: instance(identity('.*')) }, before)).toEqual([
    expect.stringContaining('is verified in another way'),
  ])
  expect(approvals({ ...before, 'README.md': 'x' }, before)).toEqual([])
  expect(approvals(before, { [FILE]: instance() })).toEqual([])
})

test('so does what the platform lets a tenant deploy', () => {
  const change = (text: string) => approvals({ 'tenants/more.yaml': text }, {})
  expect(change(artifact(identity('.*')))).toEqual([
    expect.stringContaining('tenants/more.yaml "OCIRepository/apps/more"'),
  ])
  expect(change(artifact(undefined))).toEqual([expect.stringContaining('OCIRepository/apps/more')])
  expect(change(artifact(identity(WORKFLOW), '10m'))).toEqual([])
})

test('a session sees it where another Kustomization renders the source', () => {
  const kustomization = (name: string, path: string, source: string) => `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: ${name}, namespace: flux-system}
spec: {interval: 5m, prune: true, path: ./${path}, sourceRef: {kind: GitRepository, name: ${source}}}
`
  const filesWith = (verify: string) => ({
    'clusters/staging/kustomization.yaml': 'resources: [flux-system, tenants.yaml, sources.yaml, more.yaml]\n',
    'clusters/staging/sources.yaml': kustomization('sources', 'sources', 'flux-system'),
    'clusters/staging/more.yaml': kustomization('more', 'deploy', 'more'),
    'sources/more.yaml': `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: more, namespace: flux-system}
spec: {interval: 5m, url: "https://github.com/acme/dev-team", ref: {branch: main}${verify}}
`,
    'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml]\n',
  })
  const session = new FleetSession()
  const verified = [', verify: {mode: HEAD, secretRef: {name: keys}}', ''].map(verify => {
    const { nodes } = session.build(inputOf(given(filesWith(verify))))
    return nodes.find(({ name }) => name === 'more')?.source.verify !== undefined
  })
  expect(verified).toEqual([true, false])
})
