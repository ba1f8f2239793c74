import { expect, test } from 'vitest'
import { writtenIn } from '../../../src/surface/cli/check.ts'
import { fleetOf } from '../../fleet/fleet-of.ts'
import { FLEET_URL, fleetFiles } from '../../fleet/mini-fleet.ts'

/** One repository at three branches: that of the fleet, and those of two tenants. */
const source = (name: string) => `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: ${name}, namespace: flux-system}
spec: {interval: 1m, url: ${FLEET_URL}, ref: {branch: ${name}}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: ${name}, namespace: flux-system}
spec:
  serviceAccountName: kustomize-controller
  interval: 5m
  path: ./deploy
  prune: true
  sourceRef: {kind: GitRepository, name: ${name}}
`
const config = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: flux-system}\n`
const fleet = fleetOf({
  url: FLEET_URL,
  fleet: {
    ...fleetFiles,
    'clusters/staging/kustomization.yaml': 'resources: [flux-system, tenants.yaml, blue.yaml, green.yaml]\n',
    'clusters/staging/blue.yaml': source('blue'),
    'clusters/staging/green.yaml': source('green'),
  },
  sources: ['blue', 'green'].map(branch => ({
    url: FLEET_URL,
    ref: { branch },
    files: {
      'deploy/kustomization.yaml': `resources: [${branch}.yaml, both.yaml]\n`,
      [`deploy/${branch}.yaml`]: config(branch),
      'deploy/both.yaml': config(`both-${branch}`),
    },
  })),
})
const [own] = fleet.repositories
const { branchOf, excerpt } = writtenIn(fleet, own!.tree, own!.url)
const at = (file: string, line = 1) => ({ repository: own!.url, file, line, column: 1, via: [] })

test.each([
  ['deploy/blue.yaml', 'staging/flux-system/green', 'blue'],
  ['deploy/both.yaml', 'staging/flux-system/green', 'green'],
  ['deploy/both.yaml', 'staging/flux-system/tenants', undefined],
  ['clusters/staging/blue.yaml', 'staging/flux-system/blue', undefined],
  ['gone.yaml', 'staging/flux-system/blue', undefined],
])('the branch that has %s, for node %s: %s', (file, node, branch) => {
  expect(branchOf(at(file), node)).toBe(branch)
})

test('a line is shown only where the revisions that have the file agree', () => {
  expect(excerpt(at('deploy/green.yaml', 3))).toBe('metadata: {name: green, namespace: flux-system}')
  expect(excerpt(at('deploy/both.yaml', 3))).toBeUndefined()
})
