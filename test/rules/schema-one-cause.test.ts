import { expect, test } from 'vitest'
import { at, type ListNode } from '../../src/kube/node.ts'
import { evaluateFleet } from '../../src/verdict/evaluate-fleet.ts'
import { fleetOf } from '../fleet/fleet-of.ts'
import { miniFleet, withResource } from '../fleet/mini-fleet.ts'

const RELEASE = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: podinfo, namespace: apps}
spec:
  interval: 5m
  serviceAccountName: dev-team
  chart:
    spec:
      chart: podinfo
      version: 6.5.0
      sourceRef: {kind: HelmRepository, name: podinfo}
`

const found = (text: string) => {
  const { verdict } = evaluateFleet(fleetOf(miniFleet({ dev: withResource(text) })), { revisionSet: '' })
  return [...verdict.violations, ...verdict.warnings].flatMap(({ rule, origin, fix }) =>
    rule === 'schema-mismatch' && origin.file === 'deploy/extra.yaml' ? [`${origin.line} ${fix}`] : [],
  )
}

test.each([
  ['interval:', 'intervall:', ['5 Rename it to interval, or remove it.']],
  // without it, a rule of the definition is broken, too
  ['chart:\n    spec', 'chrt:\n    spec', ['7 Rename it to chart, or remove it.']],
  ['spec:\n      chart', 'sepc:\n      chart', ['8 Rename it to spec, or remove it.']],
  ['sourceRef', 'sorceRef', ['11 Rename it to sourceRef, or remove it.']],
  ['kind: HelmRepository', 'knd: HelmRepository', ['11 Rename it to kind, or remove it.']],
  ['podinfo\n      version', 'podinfo\n      version', []],
])('a key of a HelmRelease instead of %j is one finding: %j', (right, wrong, expected) => {
  expect(found(RELEASE.replace(right, wrong))).toEqual(expected)
})

test.each([
  ['5min', 'violation'],
  ['5', 'violation'],
  ['1d', 'violation'],
  ['1h30m', undefined],
])('the interval %s, which every version of Flux reads alike: %s', (interval, level) => {
  const text = RELEASE.replace('interval: 5m', `interval: ${interval}`).replace('apps', 'flux-system')
  const files = {
    'clusters/staging/kustomization.yaml': 'resources: [flux-system, tenants.yaml, release.yaml]\n',
    'clusters/staging/release.yaml': text,
  }
  const { verdict } = evaluateFleet(fleetOf(miniFleet({ fleet: files })), { revisionSet: '' })
  const [first] = [...verdict.violations, ...verdict.warnings].filter(({ rule }) => rule === 'schema-mismatch')
  expect(first?.level).toBe(level)
})

test('an object with many misspelled keys is compared a few times, not once for each key and version', () => {
  const keys = Array.from({ length: 200 }, (_, i) => `      hostNetwrok${i}: true\n`).join('')
  const text = `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: many, namespace: apps}\nspec:\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    spec:\n${keys}      containers: [{name: a, image: a}]\n`
  const fleet = fleetOf(miniFleet({ dev: withResource(text) }))
  const walks = fleet.nodes
    .flatMap(({ objects }) => objects)
    .flatMap(({ root }) => {
      const list = at(root, ['spec', 'template', 'spec', 'containers'])
      return list?.type === 'list' ? [countedItems(list)] : []
    })
  const { verdict } = evaluateFleet(fleet, { revisionSet: '' })
  expect(
    [...verdict.violations, ...verdict.warnings].filter(one => one.rule === 'schema-mismatch').length,
  ).toBeGreaterThan(40)
  expect(walks.length).toBeGreaterThan(0)
  for (const count of walks) expect(count()).toBeLessThan(200)
})

/** How often the items of a list are looked at from now on. */
function countedItems(list: ListNode): () => number {
  const { items } = list
  let looks = 0
  Object.defineProperty(list, 'items', {
    enumerable: true,
    get: () => {
      looks++
      return items
    },
  })
  return () => looks
}
