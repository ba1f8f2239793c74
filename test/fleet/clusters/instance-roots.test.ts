import { expect, test } from 'vitest'
import { evaluationOf, type Files, fleetOf, said } from '../fleet-of.ts'
import { instanceText, releaseText, valuesText } from './instance-text.ts'
import { configMap } from './sync-text.ts'

const clustersOf = (fleet: Files) => fleetOf({ fleet }).clusters.map(({ name, path, how }) => `${name} ${path} ${how}`)
const rootsIn = (fleet: Files) =>
  fleetOf({ fleet }).nodes.map(({ key, source, objects, identity, error }) => ({
    key,
    source: source.opaque ?? `${source.id} ${source.url}`,
    objects: objects.length,
    user: identity.user.split(':').slice(2).join('/'),
    ...(error ? { error: error.code } : {}),
  }))
const OWN = 'GitRepository/flux-system/flux-system https://github.com/acme/fleet'
const CONTROLLER = 'flux-system/kustomize-controller'

const app = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {path: ./kubernetes/apps, interval: 1h, prune: true, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}
`
const home = { 'kubernetes/flux/cluster/ks.yaml': app, 'kubernetes/apps/a.yaml': configMap('a') }

test.each([
  ['an object', 'kubernetes/flux/instance.yaml', instanceText({ path: 'kubernetes/flux/cluster' })],
  ['values of a release', 'kubernetes/apps/flux/helmrelease.yaml', releaseText({ path: './kubernetes/flux/cluster' })],
  ['a file of values', 'kubernetes/apps/flux/values/values.yml', valuesText({ path: 'kubernetes/flux/cluster' })],
])('a FluxInstance as %s makes a cluster that is evaluated, and what follows the same source', (_what, file, text) => {
  // the values of a chart are no manifest: what applies the folder leaves them out
  const files = { ...home, 'kubernetes/apps/kustomization.yaml': 'resources: [a.yaml]\n', [file]: text }
  expect(clustersOf(files)).toEqual(['cluster kubernetes/flux/cluster flux-instance'])
  expect(rootsIn(files)).toEqual([
    { key: 'cluster/flux-system/flux-system', source: OWN, objects: 1, user: CONTROLLER },
    { key: 'cluster/flux-system/apps', source: OWN, objects: 1, user: CONTROLLER },
  ])
})

test('its name is that of the sync, or of its namespace', () => {
  const at = (text: string) => rootsIn({ 'hub/flux.yaml': text, 'hub/a.yaml': configMap('a') }).map(({ key }) => key)
  expect(at(instanceText({ path: 'hub' }, 'gitops'))).toEqual(['hub/gitops/gitops'])
  expect(at(instanceText({ path: 'hub', name: 'fleet' }, 'gitops'))).toEqual(['hub/gitops/fleet'])
})

test('the namespace of a release is that into which a Kustomization puts its folder', () => {
  const cluster = app
    .replaceAll('namespace: flux-system', 'namespace: gitops')
    .replace('name: flux-system', 'name: gitops')
  const apply = (targetNamespace: string) =>
    `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux, namespace: gitops}
spec: {path: ./kubernetes/apps/flux/app, interval: 1h, prune: true, ${targetNamespace}sourceRef: {kind: GitRepository, name: gitops}}
`
  const files = (targetNamespace: string) => ({
    'kubernetes/flux/cluster/ks.yaml': cluster,
    'kubernetes/apps/kustomization.yaml': 'resources: [a.yaml, flux/ks.yaml]\n',
    'kubernetes/apps/a.yaml': configMap('a'),
    'kubernetes/apps/flux/ks.yaml': apply(targetNamespace),
    'kubernetes/apps/flux/app/helmrelease.yaml': releaseText({ path: 'kubernetes/flux/cluster' }),
  })
  const keysIn = (fleet: Files) => rootsIn(fleet).map(({ key, objects }) => `${key} ${objects}`)
  expect(keysIn(files('targetNamespace: gitops, '))).toEqual([
    'cluster/gitops/gitops 1',
    'cluster/gitops/apps 2',
    'cluster/gitops/flux 1',
  ])
  // without one it is what bootstrap would take, and what is followed is not visible
  expect(keysIn(files(''))[0]).toBe('cluster/flux-system/flux-system 1')
})

test('its patches and its lockdown hold for what it makes', () => {
  const more = `  cluster: {multitenant: true}
  kustomize:
    patches:
      - target: {kind: Kustomization, name: flux-system}
        patch: |
          - {op: replace, path: /spec/serviceAccountName, value: admin}
`
  const fleet = fleetOf({
    fleet: { ...home, 'deploy/flux.yaml': instanceText({ path: 'kubernetes/flux/cluster', more }) },
  })
  expect(fleet.nodes[0]!.identity.user).toBe('system:serviceaccount:flux-system:admin')
  expect(fleet.clusters[0]!.lockdown).toMatchObject({ noRemoteBases: true, defaultServiceAccount: 'default' })
})

const verify = (subject: string) => `  kustomize:
    patches:
      - target: {kind: OCIRepository}
        patch: |
          - op: add
            path: /spec/verify
            value:
              provider: cosign
              matchOIDCIdentity: [{issuer: '^https://token\\.actions\\.githubusercontent\\.com$', subject: '${subject}'}]
`
const oci = (subject: string) => {
  const sync = {
    path: 'hub',
    kind: 'OCIRepository',
    url: 'oci://ghcr.io/acme/fleet',
    ref: 'latest',
    more: verify(subject),
  }
  return { 'hub/flux.yaml': instanceText(sync), 'hub/a.yaml': configMap('a') }
}
const WORKFLOW = '/\\.github/workflows/push\\.yaml@refs/heads/main'

test('an artifact that the own workflow of the fleet signs is its content', () => {
  expect(rootsIn(oci(`^https://github\\.com/acme/fleet${WORKFLOW}$`))).toMatchObject([
    { source: 'OCIRepository/flux-system/flux-system https://github.com/acme/fleet', objects: 2 },
  ])
})

test.each([
  ['another repository', `^https://github\\.com/acme/other${WORKFLOW}$`],
  ['any repository', `^https://github\\.com/acme/.*${WORKFLOW}$`],
  ['whatever begins like it', `^https://github\\.com/acme/fleet${WORKFLOW}`],
  ['another branch', `^https://github\\.com/acme/fleet/\\.github/workflows/push\\.yaml@refs/heads/next$`],
  ['any branch', `^https://github\\.com/acme/fleet/\\.github/workflows/push\\.yaml@refs/heads/.+$`],
])('an artifact that %s may sign is not visible', (_what, subject) => {
  const files = oci(subject)
  const source = expect.stringContaining('the content of an OCIRepository is not in git')
  expect(rootsIn(files)).toMatchObject([{ source, objects: 0 }])
  expect(said(evaluationOf({ fleet: files })).join()).toContain('error')
})

test('templates of it and other values that look like it make no cluster', () => {
  expect(clustersOf({ 'a/values.yaml': valuesText({ path: '"{{ .Values.path }}"' }) })).toEqual([])
  expect(clustersOf({ 'a/values.yaml': valuesText({ path: 'hub', kind: 'Ingress' }) })).toEqual([])
  expect(clustersOf({ 'templates/flux.yaml': instanceText({ path: 'hub' }) })).toEqual([])
})
