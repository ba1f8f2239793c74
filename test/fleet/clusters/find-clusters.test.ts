import { expect, test } from 'vitest'
import { rootsOf } from '../../../src/fleet/graph/build-fleet.ts'
import { DEFAULT_CONFIG } from '../../../src/fleet/model/fleet-config.ts'
import { evaluationOf, type Files, fleetOf, inputOf, said } from '../fleet-of.ts'
import { configMap, syncText } from './sync-text.ts'

/** The clusters of a fleet as `name path how`. */
const clustersOf = (fleet: Files) => fleetOf({ fleet }).clusters.map(({ name, path, how }) => `${name} ${path} ${how}`)
/** The ConfigMaps that each cluster gets. */
const appliedOf = (fleet: Files) =>
  fleetOf({ fleet }).nodes.flatMap(({ cluster, objects, error }) => [
    ...(error ? [`${cluster} ${error.code}`] : []),
    ...objects.flatMap(({ root }) => {
      const { kind, metadata } = plain(root)
      return kind === 'ConfigMap' ? [`${cluster} ${metadata}`] : []
    }),
  ])
const plain = (root: { fields: ReadonlyMap<string, { value: unknown }> }) => {
  const scalar = (node: unknown) => (node as { value?: unknown }).value
  const metadata = root.fields.get('metadata')!.value as typeof root
  return { kind: scalar(root.fields.get('kind')!.value), metadata: scalar(metadata.fields.get('name')!.value) }
}

const LAYOUTS: readonly (readonly [what: string, folder: string, name: string])[] = [
  ['the layout of the documentation', 'clusters/production', 'production'],
  ['the root of the repository', '', 'root'],
  ['the folder of all clusters', 'clusters', 'clusters'],
  ['a folder of its own', 'hub', 'hub'],
  ['one cluster below kubernetes', 'kubernetes/flux/cluster', 'cluster'],
  ['several below kubernetes', 'kubernetes/clusters/prod', 'prod'],
  ['a stage and a number', 'clusters/prod/00', 'prod-00'],
  ['clusters of stages', 'clusters/stages/dev/clusters/amer', 'stages-dev-amer'],
  ['a cluster that is called test', 'clusters/test', 'test'],
  ['what bootstrap leads to a base', 'clusters/kind/base', 'kind-base'],
]

test.each(LAYOUTS)('finds the cluster of a sync: %s', (_what, folder, name) => {
  const at = (file: string) => (folder === '' ? file : `${folder}/${file}`)
  const files = {
    [at('flux-system/gotk-sync.yaml')]: syncText({ path: `./${folder}` }),
    [at('a.yaml')]: configMap('a'),
  }
  expect(clustersOf(files)).toEqual([`${name} ${folder} sync`])
  expect(appliedOf(files)).toEqual([`${name} a`])
})

test('finds it in any file, under any name of bootstrap, and where only comments hold its place', () => {
  const other = syncText({ path: './deploy', namespace: 'gitops' })
  expect(clustersOf({ 'deploy/gitops/sync.yaml': other })).toEqual(['deploy deploy sync'])
  const own = syncText({ path: './kubernetes', name: 'home' })
  expect(clustersOf({ 'kubernetes/config/cluster.yaml': own })).toEqual(['kubernetes kubernetes sync'])
  expect(clustersOf({ 'hub/flux-system/gotk-sync.yaml': '# written by bootstrap\n' })).toEqual(['hub hub sync'])
})

test('a sync that stands outside of what it applies starts the cluster there', () => {
  const files = { 'bootstrap/flux.yaml': syncText({ path: './manifests' }), 'manifests/a.yaml': configMap('a') }
  expect(clustersOf(files)).toEqual(['manifests manifests sync'])
  expect(appliedOf(files)).toEqual(['manifests a'])
})

test('an app whose Kustomization stands beside its manifests is no cluster of its own', () => {
  const own = syncText({ path: './apps/harbor', name: 'harbor' })
  const [, source, kustomization] = own.split('---\n')
  const following = kustomization!.replace(/name: harbor\n$/, 'name: flux-system\n')
  const hub = { 'hub/flux-system/gotk-sync.yaml': syncText({ path: './hub' }) }
  const apps = { 'apps/harbor/ks.yaml': following.replace('namespace: harbor', 'namespace: flux-system') }
  const manifests = { 'apps/harbor/a.yaml': configMap('a'), 'apps/harbor/kustomization.yaml': 'resources: [a.yaml]\n' }
  expect(clustersOf({ ...hub, ...apps, ...manifests })).toEqual(['hub hub sync'])
  // one that applies itself starts there, wherever its source is
  const itself = { ...manifests, 'apps/harbor/kustomization.yaml': 'resources: [a.yaml, ks.yaml]\n' }
  for (const more of [itself, { 'apps/harbor/a.yaml': configMap('a') }]) {
    expect(clustersOf({ ...hub, ...apps, ...more })).toEqual(['apps-harbor apps/harbor sync', 'hub hub sync'])
  }
  // one that brings the source that it follows is set up there
  const whole = { 'apps/harbor/ks.yaml': `${source}---\n${kustomization}` }
  expect(clustersOf({ ...hub, ...whole })).toEqual(['apps-harbor apps/harbor sync', 'hub hub sync'])
})

test('a patch of the sync of a nested cluster says where it starts', () => {
  const patch = (path: string) =>
    `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {path: ${path}}\n`
  const cluster = (number: string) => ({
    [`clusters/prod/${number}/kustomization.yaml`]: `resources: [../base]\npatches: [{path: patch.yaml}]\n`,
    [`clusters/prod/${number}/patch.yaml`]: patch(`./clusters/prod/${number}`),
  })
  const base = {
    'clusters/prod/base/kustomization.yaml': 'resources: [sync.yaml, a.yaml]\n',
    'clusters/prod/base/a.yaml': configMap('a'),
    'clusters/prod/base/sync.yaml': syncText({ path: `./clusters/\${STAGE}/\${NUMBER}` }),
  }
  const files = { ...base, ...cluster('00'), ...cluster('01') }
  expect(clustersOf(files)).toEqual(['prod-00 clusters/prod/00 sync', 'prod-01 clusters/prod/01 sync'])
  expect(appliedOf(files)).toEqual(['prod-00 a', 'prod-01 a'])
})

test('copies, templates, tests and examples are no clusters', () => {
  const sync = syncText({ path: './clusters/a' })
  const folders = [
    'clusters/_profiles',
    'template',
    'docs/example',
    'tests/audit/clusters/a',
    'examples/flux',
    '.archive',
  ]
  const files = Object.fromEntries(folders.map(folder => [`${folder}/flux-system/gotk-sync.yaml`, sync]))
  expect(clustersOf({ ...files, 'clusters/base/a.yaml': configMap('a') })).toEqual([])
  const named = syncText({ path: './{{ cluster.path }}' })
  expect(clustersOf({ 'kubernetes/flux/sync.yaml': named })).toEqual([])
})

test('a folder of the layout that only holds clusters is none, and one that another cluster applies', () => {
  const kustomization = (path: string) =>
    `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: spoke, namespace: flux-system}\nspec: {path: ${path}, sourceRef: {kind: GitRepository, name: flux-system}}\n`
  const hub = (path: string) => ({
    'hub/flux-system/gotk-sync.yaml': syncText({ path: './hub' }),
    'hub/spoke.yaml': kustomization(path),
  })
  const spoke = { 'clusters/spoke/apps/a.yaml': configMap('a') }
  expect(clustersOf({ ...hub('./clusters/spoke'), ...spoke })).toEqual(['hub hub sync'])
  expect(clustersOf({ ...hub('./clusters/spoke/apps'), ...spoke })).toEqual(['hub hub sync'])
  // settings of tools beside the folders are nothing that Flux is given to apply
  expect(clustersOf({ ...hub('./clusters/spoke/apps'), ...spoke, 'clusters/spoke/.sops.yaml': 'a: b\n' })).toEqual([
    'hub hub sync',
  ])
  // what of it another cluster shares is not all of it
  const shared = { ...hub('./clusters/spoke/apps'), ...spoke, 'clusters/spoke/b.yaml': configMap('b') }
  expect(clustersOf(shared)).toEqual(['hub hub sync', 'spoke clusters/spoke layout'])
})

test('clusters that follow several branches are told apart, and what follows another one is not visible', () => {
  const files = {
    'deploy/flux-system/gotk-sync.yaml': syncText({ path: './deploy' }),
    'deploy-staging/sync.yaml': syncText({ path: './deploy', branch: 'staging' }),
    'deploy/a.yaml': configMap('a'),
  }
  const url = 'https://github.com/acme/fleet'
  const given = { fleet: files, opaque: [{ url, ref: { branch: 'staging' }, reason: 'no access' }] }
  const fleet = fleetOf(given)
  expect(fleet.clusters.map(({ name }) => name)).toEqual(['deploy', 'deploy-staging'])
  expect(fleet.notSeen).toEqual([{ source: 'GitRepository/flux-system/flux-system', url, reason: 'no access' }])
  expect(said(evaluationOf(given))).toEqual([])
})

test('names never collide: the layout keeps its own', () => {
  const files = {
    'clusters/prod-00/a.yaml': configMap('a'),
    'clusters/prod/00/flux-system/gotk-sync.yaml': syncText({ path: './clusters/prod/00' }),
    'k8s/prod/00/flux-system/gotk-sync.yaml': syncText({ path: './k8s/prod/00' }),
  }
  const names = fleetOf({ fleet: files }).clusters.map(({ name }) => name)
  expect(names).toEqual([
    expect.stringMatching(/^prod-00$/),
    expect.stringMatching(/^prod-00-[0-9a-f]{6}$/),
    expect.stringMatching(/^prod-00-[0-9a-f]{6}$/),
  ])
  expect(new Set(names).size).toBe(3)
})

test('a root that a change takes away is still a cluster of the change', () => {
  const before = { 'hub/flux-system/gotk-sync.yaml': syncText({ path: './hub' }), 'hub/a.yaml': configMap('a') }
  const find = (fleet: Files) =>
    rootsOf({ ...inputOf({ fleet }), config: inputOf({ fleet: before }).fleet.tree }, DEFAULT_CONFIG).roots.map(
      ({ name }) => name,
    )
  expect(find({ 'hub/a.yaml': configMap('a'), 'hub/evil.yaml': configMap('evil') })).toEqual(['hub'])
  expect(find({ ...before, 'hub/flux-system/gotk-sync.yaml': ': no yaml' })).toEqual(['hub'])
  expect(find({ ...before, 'hub/flux-system/gotk-sync.yaml': syncText({ path: './other' }) })).toEqual(['other'])
  expect(find({ 'other/a.yaml': configMap('a') })).toEqual([])
})

test('what a cluster leads to is no start, although it is in the folder that it applies and follows the fleet', () => {
  const crds = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: crds, namespace: flux-system}
spec: {path: ./apps/crds, sourceRef: {kind: GitRepository, name: flux-system}}
`
  const files = {
    'hub/flux-system/gotk-sync.yaml': syncText({ path: './hub' }),
    'hub/kustomization.yaml': 'resources: [flux-system, ../apps/crds/kustomize.yaml]\n',
    'hub/flux-system/kustomization.yaml': 'resources: [gotk-sync.yaml]\n',
    'apps/crds/kustomize.yaml': crds,
  }
  expect(clustersOf(files)).toEqual(['hub hub sync'])
})
