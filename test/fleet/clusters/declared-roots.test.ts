import { expect, test } from 'vitest'
import { buildFleet } from '../../../src/fleet/graph/build-fleet.ts'
import { type Files, fleetOf, inputOf } from '../fleet-of.ts'
import { configMap, syncText } from './sync-text.ts'

const FILE = '.github/bailiwick.yaml'
const files = { 'deploy/prod/a.yaml': configMap('a'), 'examples/b.yaml': configMap('b') }
const clustersOf = (fleet: Files) => fleetOf({ fleet }).clusters.map(({ name, path, how }) => `${name} ${path} ${how}`)

test('a cluster that is declared starts in its folder, whatever that is called', () => {
  expect(clustersOf(files)).toEqual([])
  const said = 'clusters:\n  - {name: prod, path: ./deploy/prod}\n  - {name: demo, path: examples}\n'
  expect(clustersOf({ ...files, [FILE]: said })).toEqual(['demo examples declared', 'prod deploy/prod declared'])
  expect(
    fleetOf({ fleet: { ...files, [FILE]: said } }).nodes.map(({ key, objects }) => `${key} ${objects.length}`),
  ).toEqual(['demo/flux-system/flux-system 1', 'prod/flux-system/flux-system 1'])
})

test('what was found in its folder keeps what it starts with, under the declared name', () => {
  const sync = syncText({ path: './deploy/prod', namespace: 'gitops' })
  const said = 'clusters: [{name: live, path: ./deploy/prod}]\n'
  const fleet = fleetOf({ fleet: { ...files, 'deploy/prod/gitops/sync.yaml': sync, [FILE]: said } })
  expect(fleet.nodes.map(({ key }) => key)).toEqual(['live/gitops/gitops'])
})

test('one that follows something else is not visible here', () => {
  const said =
    'clusters:\n  - name: edge\n    path: ./deploy/prod\n    source: {url: https://github.com/acme/edge, ref: {branch: main}}\n'
  const fleet = fleetOf({ fleet: { ...files, [FILE]: said } })
  expect(fleet.nodes.map(({ key, objects }) => `${key} ${objects.length}`)).toEqual(['edge/flux-system/flux-system 0'])
  expect(fleet.notSeen.map(({ url }) => url)).toEqual(['https://github.com/acme/edge'])
})

test('a change that declares a cluster does not make one yet, and a folder that is not there is an error', () => {
  const said = { [FILE]: 'clusters: [{name: prod, path: ./deploy/prod}, {name: none, path: ./none}]\n' }
  const config = inputOf({ fleet: files }).fleet.tree
  expect(buildFleet({ ...inputOf({ fleet: { ...files, ...said } }), config }).clusters).toEqual([])
  const { nodes } = fleetOf({ fleet: { ...files, ...said } })
  expect(nodes.map(({ cluster, error }) => `${cluster} ${error?.code}`)).toEqual([
    'none path-not-found',
    'prod undefined',
  ])
})

test.each([
  ['a path out of the repository', '{name: prod, path: ../other}'],
  ['a path that only the cluster knows', '{name: prod, path: "clusters/{NAME}"}'],
  ['a name that is none', '{name: a/b, path: ./deploy}'],
])('%s is refused', (_what, entry) => {
  const fleet = fleetOf({ fleet: { ...files, 'clusters/a/a.yaml': configMap('a'), [FILE]: `clusters: [${entry}]\n` } })
  expect(fleet.config.error?.code).toBe('config')
})
