import { expect, test } from 'vitest'
import { buildFleet } from '../../../src/fleet/graph/build-fleet.ts'
import { type Files, fleetOf, inputOf } from '../fleet-of.ts'
import { configMap, syncText } from './sync-text.ts'

const kustomization = (name: string, path: string, source = 'flux-system', namespace = 'flux-system') =>
  `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: ${name}, namespace: ${namespace}}
spec: {path: ${path}, interval: 1h, prune: true, sourceRef: {kind: GitRepository, name: ${source}}}
`
const files = {
  'kubernetes/flux/apps.yaml': kustomization('apps', './kubernetes/apps'),
  'kubernetes/apps/web/ks.yaml': kustomization('web', './kubernetes/apps/web/app'),
  'kubernetes/apps/web/app/a.yaml': configMap('a'),
}
const clustersOf = (fleet: Files, base?: Files) =>
  buildFleet({ ...inputOf({ fleet }), ...(base ? { config: inputOf({ fleet: base }).fleet.tree } : {}) }).clusters.map(
    ({ name, path, how }) => `${name} ${path} ${how}`,
  )

test('where nothing says where a cluster starts, it is what no other Kustomization leads to', () => {
  expect(clustersOf(files)).toEqual(['flux kubernetes/flux assumed'])
  expect(fleetOf({ fleet: files }).nodes.map(({ key }) => key)).toEqual([
    'flux/flux-system/flux-system',
    'flux/flux-system/apps',
    'flux/flux-system/web',
  ])
})

test('what follows another repository, and folders of tests, examples and templates, start nothing', () => {
  const other = syncText({ path: './deploy', url: 'https://github.com/acme/other', name: 'other' })
  expect(clustersOf({ 'deploy/sync.yaml': other, 'deploy/a.yaml': configMap('a') })).toEqual([])
  const aside = ['examples/flux', 'tests/fleet', 'template/kubernetes', '_profiles', 'apps/base']
  const moved = aside.map(folder => [`${folder}/apps.yaml`, kustomization('apps', './kubernetes/apps')])
  expect(clustersOf({ ...Object.fromEntries(moved), 'kubernetes/apps/a.yaml': configMap('a') })).toEqual([])
})

test('nothing is assumed where any cluster is found, declared or laid out', () => {
  const hub = { 'hub/flux-system/gotk-sync.yaml': syncText({ path: './hub' }) }
  expect(clustersOf({ ...files, ...hub })).toEqual(['hub hub sync'])
  expect(clustersOf({ ...files, '.github/bailiwick.yaml': 'clusters: [{name: x, path: hub}]\n' })).toEqual([
    'x hub declared',
  ])
  expect(clustersOf({ ...files, 'clusters/prod/a.yaml': configMap('a') })).toEqual(['prod clusters/prod layout'])
})

test('a change makes no assumed cluster, and takes none away', () => {
  const added = {
    ...files,
    'evil/flux.yaml': kustomization('evil', './evil/app'),
    'evil/app/a.yaml': configMap('evil'),
  }
  expect(clustersOf(added, files)).toEqual(['flux kubernetes/flux assumed'])
  expect(clustersOf(added, { 'README.md': '' })).toEqual([])
  // what a change leads to is still where the cluster starts
  const led = { ...files, 'evil/flux.yaml': kustomization('evil', './kubernetes/flux') }
  expect(clustersOf(led, files)).toEqual(['flux kubernetes/flux assumed'])
})
