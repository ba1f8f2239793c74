import { expect, test } from 'vitest'
import { evaluationOf } from '../../fleet/fleet-of.ts'
import { miniFleet, withResource } from '../../fleet/mini-fleet.ts'

const pair = (name: string, meant: string) => `---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: ${name}, namespace: apps}
spec: {interval: 5m, url: "https://example.com/"}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: ${name}, namespace: apps}
spec: {interval: 5m, serviceAccountName: dev-team, chart: {spec: {chart: x, sourceRef: {kind: HelmRepository, name: ${meant}}}}}
`
const errorsWith = (count: number, prefix: string) => {
  const text = Array.from({ length: count }, (_, index) => pair(`${prefix}${index}`, `${prefix}x${index}`)).join('')
  return evaluationOf(miniFleet({ dev: withResource(text) }), { base: miniFleet() }).verdict.errors.length
}

test('each misspelled source is an error, but a tenant does not decide how long it takes to look for what is meant', () => {
  expect(errorsWith(30, 'charts-of-the-team-')).toBe(30)
  // not compared any more, so nothing is let through
  expect(errorsWith(200, 'r'.repeat(150))).toBe(200)
})
