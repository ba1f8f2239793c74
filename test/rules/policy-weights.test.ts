import { describe, expect, test } from 'vitest'
import { acceptedBy, BASELINE_FILE } from '../../src/rules/model/baseline.ts'
import type { Finding } from '../../src/rules/model/finding.ts'
import { treeOf } from '../base/git/tree-of.ts'
import { evaluationOf, type Given } from '../fleet/fleet-of.ts'
import { FLEET_URL, miniFleet, withResource } from '../fleet/mini-fleet.ts'

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

function given({ policy = POLICY(), object = map('top'), files = {}, own = {} } = {}): Given {
  return miniFleet({
    fleet: {
      'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, policies.yaml]\n',
      'tenants/policies.yaml': policy,
      ...files,
    },
    dev: { ...withResource(object), ...own },
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

const CLOCK = `apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: {name: clock}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: apps}}
  validations: [{expression: "time.now() > timestamp('2026-01-01T00:00:00Z')"}]
`
const SIGNED = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: signed}
spec:
  validationFailureAction: Enforce
  rules:
    - name: signatures
      match: {any: [{resources: {kinds: [Pod]}}]}
      verifyImages:
        - imageReferences: ["ghcr.io/acme/*"]
          attestors: [{entries: [{keys: {publicKeys: x}}]}]
`
const pod = (image: string) =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: asked, namespace: apps}\nspec: {containers: [{name: a, image: "${image}"}]}\n`

interface Weighed {
  readonly rule: string
  readonly policy: string
  readonly object: string
  /** The objects or policies before the change; absent: the finding needs none. */
  readonly before?: { readonly policy?: string; readonly object?: string }
  readonly severity: string
}

const RULES: readonly Weighed[] = [
  { rule: 'policy-not-evaluated', policy: CLOCK, object: map('low', 'settings'), severity: 'low' },
  {
    ...{ rule: 'image-unverified', policy: SIGNED, severity: 'medium' },
    object: pod('quay.io/acme/web:1'),
    before: { policy: SIGNED.replace('ghcr.io/acme/*', 'quay.io/acme/*'), object: pod('quay.io/acme/web:1') },
  },
  {
    ...{ rule: 'policy-loosened', policy: POLICY().replace('[Deny]', '[Audit]'), severity: 'medium' },
    object: map('low', 'settings'),
    before: { policy: POLICY(), object: map('low', 'settings') },
  },
]

describe.each(RULES)('the weight of $rule', ({ rule, policy, object, before, severity }) => {
  const verdictOf = (file = '', { today = '', own = {}, baseline = '' } = {}) => {
    const files = file === '' ? {} : { '.github/bailiwick.yaml': file }
    const tree = baseline === '' ? undefined : treeOf({ [BASELINE_FILE]: baseline })
    return evaluationOf(given({ policy, object, files, own }), {
      ...(before ? { base: given({ ...before, files, own }) } : {}),
      ...(tree ? { baseline: acceptedBy(tree, FLEET_URL) } : {}),
      ...(today === '' ? {} : { today }),
    }).verdict
  }
  const ofRule = (verdict: ReturnType<typeof verdictOf>) =>
    [...verdict.violations, ...verdict.warnings].filter(one => one.rule === rule)
  const [first] = ofRule(verdictOf())

  test('is a warning that blocks nothing, unless the fleet says otherwise', () => {
    expect(first).toMatchObject({ level: 'warning', severity, state: before ? 'new' : expect.anything() })
    expect(verdictOf().result).toBe('pass')
    const heavy = verdictOf(`severities: {${rule}: high}\n`)
    expect(ofRule(heavy)[0]).toMatchObject({ severity: 'high' })
    expect(heavy.result).toBe(ofRule(heavy)[0]!.level === 'violation' ? 'fail' : 'pass')
    expect(ofRule(verdictOf(`severities: {${rule}: off}\n`))).toEqual([])
  })

  test('report mode and the baseline take the effect of a violation, a waiver ends', () => {
    const heavy = `severities: {${rule}: high}\n`
    const [asViolation] = ofRule(verdictOf(heavy))
    const reported = verdictOf(`${heavy}enforcement: report\n`)
    expect(reported.result).toBe('pass')
    expect(ofRule(reported)[0]!.level).toBe('warning')
    const accepted = ofRule(verdictOf(heavy)).map(({ fingerprint }) => fingerprint)
    const baseline = `violations:\n${accepted.map(one => `  - {fingerprint: ${one}, severity: high}\n`).join('')}`
    // against a base only what is new counts, whatever the baseline says
    expect(verdictOf(heavy, { baseline }).result).toBe(before && asViolation!.level === 'violation' ? 'fail' : 'pass')
    const { object: of } = asViolation!
    const waiver = `${heavy}waivers:
${ofRule(verdictOf(heavy))
  .map(
    one => `  - rule: ${rule}
    object: {kind: ${of.kind}, name: ${of.name}${of.namespace ? `, namespace: ${of.namespace}` : ''}}
    violations: [{fingerprint: ${one.fingerprint}, severity: high}]
    reason: moves in May
    approver: "@acme/platform"
    expires: 2026-06-30
`,
  )
  .join('')}`
    const stateOn = (today: string) => ofRule(verdictOf(waiver, { today }))[0]!.state
    expect(verdictOf(waiver, { today: '2026-06-30' }).result).toBe('pass')
    expect(stateOn('2026-06-30')).toBe('waived')
    expect(stateOn('2026-07-01')).not.toBe('waived')
  })

  test.each([
    `severities: {${rule}: off}\n`,
    `severities: {${rule}: warning}\n`,
    `enforcement: report\n`,
    'waivers: []\n',
  ])('a tenant does not silence it by %s in its own repository', file => {
    const heavy = `severities: {${rule}: high}\n`
    const own = { '.github/bailiwick.yaml': file }
    const quiet = verdictOf(heavy, { own })
    const same = ofRule(verdictOf(heavy)).map(({ fingerprint, level }) => [fingerprint, level])
    expect(ofRule(quiet).map(({ fingerprint, level }) => [fingerprint, level])).toEqual(same)
    expect(ofRule(verdictOf('', { own })).length).toBeGreaterThan(0)
  })
})
