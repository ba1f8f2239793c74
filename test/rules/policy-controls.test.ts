import { expect, test } from 'vitest'
import { auditFleet } from '../../src/audit/audit-fleet.ts'
import { fleetOf } from '../fleet/fleet-of.ts'
import { miniFleet } from '../fleet/mini-fleet.ts'

const controls = (policies: string, rbac = '') => {
  const fleet = fleetOf(
    miniFleet({
      fleet: {
        'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, policies.yaml]\n',
        'tenants/policies.yaml': policies + rbac,
      },
    }),
  )
  return auditFleet(fleet, ['staging'])[0]!.items.flatMap(({ check, state, message, origin }) =>
    check === 'policy-control' ? [`${state}: ${message} at ${origin?.line}`] : [],
  )
}

const binding = (spec: string) => `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: levels}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [secrets]}]}
  validations: [{expression: "has(params.data.open)"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: bound}
spec:
  policyName: levels
  validationActions: [Deny]
  ${spec}
`
const OPS = 'matchResources: {namespaceSelector: {matchLabels: {toolkit.fluxcd.io/tenant: ops-team}}}'

test('the tenants who can write the parameters of a binding, and those who can relabel their namespace', () => {
  expect(controls(binding('paramRef: {name: levels, parameterNotFoundAction: Deny}'))).toEqual([
    'weak: tenants "dev-team", "ops-team" can escape or loosen ValidatingAdmissionPolicyBinding "bound": /spec/paramRef names parameters that they can write at 15',
  ])
  const [parameters, labels] = controls(binding(`paramRef: {name: levels, parameterNotFoundAction: Deny}\n  ${OPS}`))
  expect(parameters).toMatch(/^weak: tenant "ops-team" can escape or loosen .*paramRef names parameters/)
  // their accounts are cluster-admin in the namespace, which includes the Namespace itself
  expect(labels).toMatch(
    /^weak: tenants "dev-team", "ops-team" .* selects by labels of Namespaces, which they may change/,
  )
})

test('parameters of the platform are its own', () => {
  expect(controls(binding('paramRef: {name: levels, namespace: flux-system, parameterNotFoundAction: Deny}'))).toEqual(
    [],
  )
  const open = `---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: levels, namespace: flux-system}
rules: [{apiGroups: [""], resources: [configmaps], resourceNames: [levels], verbs: [patch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: levels, namespace: flux-system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: levels}
subjects: [{kind: ServiceAccount, name: dev-team, namespace: apps}]
`
  const own = binding('paramRef: {name: levels, namespace: flux-system, parameterNotFoundAction: Deny}')
  expect(controls(own, open)).toEqual([expect.stringContaining('names parameters that they can write')])
})

const CLUSTER_POLICY = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: names}
spec:
  rules:
    - name: no-old
      match: {any: [{resources: {kinds: [Secret]}}]}
      validate: {failureAction: Enforce, pattern: {metadata: {name: "!old-*"}}}
`
const release = (values: string) => `---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: kyverno, namespace: flux-system}
spec:
  chart: {spec: {chart: kyverno, sourceRef: {kind: HelmRepository, name: kyverno}}}
  values: ${values}
`

test('the tenants who can write PolicyExceptions, where Kyverno reads them or the fleet does not show that', () => {
  // by RBAC alone: no exception is in git
  expect(controls(CLUSTER_POLICY)).toEqual([
    'unknown: tenants "dev-team", "ops-team" can write PolicyExceptions, and the fleet does not show from which namespaces Kyverno reads them at undefined',
  ])
  const of = (values: string) => controls(CLUSTER_POLICY, release(values))
  expect(of('{}')).toEqual([expect.stringMatching(/^unknown: tenants "dev-team", "ops-team"/)])
  expect(of('{features: {policyExceptions: {enabled: true}}}')).toEqual([expect.stringMatching(/^unknown: /)])
  expect(of('{features: {policyExceptions: {enabled: true, namespace: "*"}}}')).toEqual([
    'weak: tenants "dev-team", "ops-team" can escape or loosen HelmRelease "flux-system/kyverno": /spec/values/features/policyExceptions/namespace lets Kyverno read PolicyExceptions that they can write at 15',
  ])
  // Kyverno reads exceptions of policies.kyverno.io from every namespace then
  expect(of('{features: {policyExceptions: {enabled: true, namespace: ""}}}')).toHaveLength(1)
  expect(of('{features: {policyExceptions: {enabled: true, namespace: apps}}}')).toEqual([
    expect.stringMatching(/^weak: tenant "dev-team" /),
  ])
  expect(of('{features: {policyExceptions: {enabled: true, namespace: kyverno}}}')).toEqual([])
  expect(of('{features: {policyExceptions: {enabled: false}}}')).toEqual([])
  expect(controls('', release('{}').replace('---\n', ''))).toEqual([])
})
