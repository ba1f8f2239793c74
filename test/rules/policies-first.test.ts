import { expect, test } from 'vitest'
import { auditFleet } from '../../src/verdict/audit/audit-fleet.ts'
import { fleetOf } from '../fleet/fleet-of.ts'
import { miniFleet } from '../fleet/mini-fleet.ts'

const sync = (name: string, path: string, dependsOn: readonly string[]) => `---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: ${name}, namespace: flux-system}
spec:
  serviceAccountName: kustomize-controller
  interval: 5m
  sourceRef: {kind: GitRepository, name: flux-system}
  path: ${path}
  prune: true
  dependsOn: [${dependsOn.map(one => `{name: ${one}}`).join(', ')}]
`
const POLICY = 'apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: sources}\nspec: {rules: []}\n'
const CHART = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: kyverno}\n'

/** Kyverno, its policies, and the tenants, each waiting for these. */
function policyItems(policies: readonly string[], tenants: readonly string[]) {
  const fleet = fleetOf(
    miniFleet({
      fleet: {
        'clusters/staging/tenants.yaml':
          sync('kyverno', './kyverno', []) +
          sync('policies', './policies', policies) +
          sync('tenants', './tenants', tenants),
        'kyverno/chart.yaml': CHART,
        'policies/policy.yaml': POLICY,
      },
    }),
  )
  return auditFleet(fleet, ['staging'])[0]!.items.filter(({ check }) => check === 'policies-first')
}

test('tenants that wait for the policies are fine, also through others', () => {
  expect(policyItems(['kyverno'], ['policies'])).toMatchObject([{ state: 'ok', subject: 'flux-system/policies' }])
  expect(policyItems([], ['policies', 'kyverno'])).toMatchObject([{ state: 'ok' }])
})

test('tenants that do not wait are named, with the line to change', () => {
  const [item, ...others] = policyItems(['kyverno'], ['kyverno'])
  expect(others).toEqual([])
  expect(item).toMatchObject({ state: 'weak', origin: { file: 'tenants/dev-team.yaml' } })
  expect(item?.message).toContain('"apps/dev-team", "ops/ops-team" can be applied before')
})

test('policies that wait for the tenants go round, and are not before them', () => {
  expect(policyItems(['tenants'], [])).toMatchObject([{ state: 'weak' }])
})
