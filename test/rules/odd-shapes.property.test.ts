import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { evaluationOf } from '../fleet/fleet-of.ts'
import { miniFleet, withResource } from '../fleet/mini-fleet.ts'

/** Kinds whose fields rules look into, as a tenant writes them. */
const KINDS = [
  ['v1', 'Namespace'],
  ['v1', 'ConfigMap'],
  ['v1', 'LimitRange'],
  ['networking.k8s.io/v1', 'NetworkPolicy'],
  ['cilium.io/v2', 'CiliumNetworkPolicy'],
  ['capsule.clastix.io/v1beta2', 'TenantResource'],
  ['capsule.clastix.io/v1beta2', 'Tenant'],
  ['capsule.clastix.io/v1beta2', 'CapsuleConfiguration'],
  ['helm.toolkit.fluxcd.io/v2', 'HelmRelease'],
  ['kustomize.toolkit.fluxcd.io/v1', 'Kustomization'],
] as const

const FIELDS =
  'spec owners name kind items rawItems namespacedItems resources namespace podSelector ingress egress from to ports policyTypes ignore paths driftDetection targetNamespace install createNamespace namespaceOptions forbiddenLabels denied quota networkPolicies additionalRoleBindings subjects userGroups resourceQuotas hard specs endpointSelector postBuild'.split(
    ' ',
  )

/** Anything that YAML can say, in fields that mean something. */
const { value } = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    fc.constantFrom(null, true, 0, -1, 'x', 'apps', '', 'system:authenticated', '0.0.0.0/0', '/spec'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...FIELDS), tie('value'), { maxKeys: 4 }),
  ),
}))

const object = fc.record({ kind: fc.constantFrom(...KINDS), spec: value, owners: value, finalizers: value })

const textOf = ({
  kind: [apiVersion, kind],
  spec,
  owners,
  finalizers,
}: typeof object extends fc.Arbitrary<infer T> ? T : never) =>
  JSON.stringify({
    apiVersion,
    kind,
    metadata: { name: 'odd', namespace: 'apps', ownerReferences: owners, finalizers },
    spec,
  })

test('whatever shape a field has, every rule answers', () => {
  let evaluated = 0
  fc.assert(
    fc.property(object, object, (ours, theirs) => {
      const platform = (text: string) => ({
        'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, odd.yaml]\n',
        'tenants/odd.yaml': text,
      })
      const head = miniFleet({ fleet: platform(textOf(ours)), dev: withResource(textOf(theirs)) })
      const base = miniFleet({ fleet: platform(textOf(theirs)), dev: withResource(textOf(ours)) })
      const { verdict } = evaluationOf(head, { base })
      evaluated += verdict.errors.length === 0 ? 1 : 0
      expect(evaluationOf(head, { base: head }).verdict.violations.filter(({ state }) => state === 'new')).toEqual([])
    }),
    { numRuns: 120, seed: 11 },
  )
  expect(evaluated).toBeGreaterThan(20)
})
