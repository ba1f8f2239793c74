import { expect, test } from 'vitest'
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
  const { verdict } = evaluateFleet(fleetOf(miniFleet({ dev: withResource(text) })), { combination: '' })
  return verdict.warnings.flatMap(({ rule, origin, fix }) =>
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
