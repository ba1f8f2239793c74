import { expect, test } from 'vitest'
import { changesOf } from '../../../src/verdict/diff/changes-of.ts'
import { fleetOf, type Given } from '../../fleet/fleet-of.ts'
import { miniFleet } from '../../fleet/mini-fleet.ts'

const config = (value: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: flux-system}\ndata: {value: ${value}}\n`
const changes = (base: Given, head: Given) =>
  changesOf(fleetOf(base), fleetOf(head)).nodes.map(
    ({ cluster, node, change, objects }) =>
      `${cluster}: ${node} ${change}: ${objects.map(one => `${one.change} ${one.id.name}${one.fate ? ` ${one.fate}` : ''}`).join(', ')}`,
  )

test('a change beside what could not be built is shown', () => {
  const given = (value: string) =>
    miniFleet({
      fleet: {
        'clusters/staging/kustomization.yaml':
          'resources: [flux-system, tenants.yaml, x.yaml, "https://files.example.com/more.yaml"]\n',
        'clusters/staging/x.yaml': config(value),
      },
    })
  expect(fleetOf(given('one')).nodes[0]).toMatchObject({ digest: '', holes: [{ fatal: false }] })
  expect(changes(given('one'), given('two'))).toEqual(['staging: staging/flux-system/flux-system changed: changed x'])
  expect(changes(given('one'), given('one'))).toEqual([])
})

test('a Kustomization that is sent to another cluster leaves its objects where they are, and brings them there', () => {
  const sync = (more: string) => `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: x, namespace: flux-system}
spec: {interval: 5m, prune: true, path: ./x, ${more}sourceRef: {kind: GitRepository, name: flux-system}}
`
  const given = (more: string) =>
    miniFleet({
      fleet: {
        'clusters/staging/kustomization.yaml': 'resources: [flux-system, tenants.yaml, x.yaml]\n',
        'clusters/staging/x.yaml': sync(more),
        'x/x.yaml': config('one'),
      },
    })
  const edge = given('kubeConfig: {secretRef: {name: edge}}, ')
  expect(changes(given(''), edge)).toEqual([
    'staging: staging/flux-system/flux-system changed: changed x',
    'staging: staging/flux-system/x removed: removed x orphaned',
    'staging -> kubeconfig flux-system/edge: staging/flux-system/x added: added x',
  ])
})
