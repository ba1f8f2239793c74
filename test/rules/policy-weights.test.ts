import { expect, test } from 'vitest'
import { acceptedBy, BASELINE_FILE } from '../../src/rules/model/baseline.ts'
import type { Finding } from '../../src/rules/model/finding.ts'
import { evaluationOf, type Given } from '../fleet/fleet-of.ts'
import { FLEET_URL, miniFleet, withResource } from '../fleet/mini-fleet.ts'
import { treeOf } from '../git/tree-of.ts'

const POLICY = (message = 'use a known level', name = 'no-old') => `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: levels}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: ["v1"], operations: [CREATE, UPDATE], resources: [configmaps]}]
  validations:
    - {expression: "!has(object.data.level) || object.data.level == 'low'", message: "${message}"}
    - {expression: "!has(object.data.level) || object.data.level != 'top'", message: "${message}"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: bound}
spec:
  policyName: levels
  validationActions: [Deny]
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: apps}}}
---
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: names}
spec:
  validationFailureAction: Enforce
  rules:
    - name: ${name}
      match: {any: [{resources: {kinds: [ConfigMap]}}]}
      validate: {message: "${message}", pattern: {metadata: {name: "!old-*"}}}
`
const map = (level: string, name = 'old-settings') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: apps}\ndata: {level: ${level}}\n`

function given({ policy = POLICY(), object = map('top'), files = {} } = {}): Given {
  return miniFleet({
    fleet: {
      'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, policies.yaml]\n',
      'tenants/policies.yaml': policy,
      ...files,
    },
    dev: withResource(object),
  })
}

const denied = (found: readonly Finding[]) => found.filter(({ rule }) => rule === 'policy-denied')
const fleetFile = (text: string) => given({ files: { '.github/bailiwick.yaml': text } })

test('each check of a policy is a finding of its own', () => {
  const { verdict } = evaluationOf(given())
  expect(
    denied(verdict.violations)
      .map(({ policy }) => `${policy?.name} ${policy?.rule} ${policy?.action}`)
      .sort(),
  ).toEqual(['levels bound deny', 'levels bound deny', 'names no-old deny'])
  expect(new Set(verdict.violations.map(({ fingerprint }) => fingerprint)).size).toBe(3)
})

test('report mode, a severity and a switched off rule', () => {
  const reported = evaluationOf(fleetFile('enforcement: report\n')).verdict
  expect(reported.result).toBe('pass')
  expect(denied(reported.warnings)).toMatchObject([{ reported: true }, { reported: true }, { reported: true }])
  expect(denied(evaluationOf(fleetFile('severities: {policy-denied: low}\n')).verdict.violations)).toMatchObject([
    { severity: 'low' },
    { severity: 'low' },
    { severity: 'low' },
  ])
  const off = evaluationOf(fleetFile('severities: {policy-denied: warning}\n')).verdict
  expect(off).toMatchObject({ result: 'pass' })
  expect(denied(off.warnings)).toHaveLength(3)
})

test('a waiver accepts one finding of a policy, until its day', () => {
  const [first] = denied(evaluationOf(given()).verdict.violations)
  const file = `waivers:
  - rule: policy-denied
    object: {kind: ConfigMap, namespace: apps, name: old-settings}
    violations: [{fingerprint: ${first!.fingerprint}, severity: high}]
    reason: moves in May
    approver: "@acme/platform"
    expires: 2026-06-30
`
  const states = (today: string) =>
    denied(evaluationOf(fleetFile(file), { today }).verdict.violations).map(({ state }) => state)
  expect(states('2026-06-30').sort()).toEqual(['new', 'new', 'waived'])
  expect(states('2026-07-01')).toEqual(['new', 'new', 'new'])
})

test('the baseline accepts what stands, not another value', () => {
  const found = denied(evaluationOf(given()).verdict.violations)
  const text = `violations:\n${found.map(({ fingerprint }) => `  - {fingerprint: ${fingerprint}, severity: high}\n`).join('')}`
  const baseline = acceptedBy(treeOf({ [BASELINE_FILE]: text }), FLEET_URL)
  expect(evaluationOf(given(), { baseline }).verdict.result).toBe('pass')
  const other = evaluationOf(given({ object: map('high') }), { baseline }).verdict
  expect(other.result).toBe('fail')
})

test('other words of a policy make nothing new', () => {
  const base = given()
  const { verdict } = evaluationOf(given({ policy: POLICY('please use a known level') }), { base })
  expect(denied(verdict.violations).map(({ state }) => state)).toEqual(['standing', 'standing', 'standing'])
  expect(verdict.result).toBe('pass')
  const renamed = evaluationOf(given({ policy: POLICY(undefined, 'another-rule') }), { base }).verdict
  expect(renamed.result).toBe('fail')
})

test('an object that changes and is refused as before is an existing violation, a worse value is new', () => {
  const base = given({ object: map('high', 'settings') })
  const labelled = map('high', 'settings').replace('namespace: apps', 'namespace: apps, labels: {a: b}')
  expect(evaluationOf(given({ object: labelled }), { base }).verdict.result).toBe('pass')
  expect(evaluationOf(given({ object: map('higher', 'settings') }), { base }).verdict.result).toBe('fail')
})

test('a policy that denies less needs an approval, unless the finding is waived', () => {
  const of = (policy: string, file: string) =>
    given({ policy, object: map('low', 'settings'), files: file ? { '.github/bailiwick.yaml': file } : {} })
  const looser = POLICY().replace('[Deny]', '[Audit]')
  // what the file of the base says has an effect
  const verdictOf = (file: string, today?: string) =>
    evaluationOf(of(looser, file), { base: of(POLICY(), file), ...(today ? { today } : {}) }).verdict
  const asked = (file: string, today?: string) =>
    verdictOf(file, today)
      .requiredApprovals.filter(({ rule }) => rule === 'policy-loosened')
      .map(({ path }) => path)
  expect(asked('')).toEqual(['tenants/policies.yaml'])
  const { warnings } = verdictOf('')
  const one = warnings.find(({ rule }) => rule === 'policy-loosened')!
  expect(one).toMatchObject({ state: 'new', object: { kind: 'ValidatingAdmissionPolicyBinding', name: 'bound' } })
  const waiver = `waivers:
  - rule: policy-loosened
    object: {kind: ValidatingAdmissionPolicyBinding, name: bound}
    violations: [{fingerprint: ${one.fingerprint}, severity: medium}]
    reason: moves in May
    approver: "@acme/platform"
    expires: 2026-06-30
`
  expect(asked(waiver, '2026-06-30')).toEqual([])
  expect(asked(waiver, '2026-07-01')).toEqual(['tenants/policies.yaml'])
})
