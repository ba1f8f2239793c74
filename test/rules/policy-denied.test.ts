import { describe, expect, test } from 'vitest'
import { plainText } from '../../src/base/message.ts'
import { evaluationOf } from '../fleet/fleet-of.ts'
import { miniFleet, withResource } from '../fleet/mini-fleet.ts'

interface Policy {
  readonly validations: string
  readonly operations?: string
  readonly spec?: string
  readonly binding?: string
  readonly actions?: string
  readonly more?: string
}

const policies = ({
  validations,
  operations = 'CREATE, UPDATE',
  spec = '',
  binding = '',
  actions = 'Deny',
  more = '',
}: Policy) => `---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: asked}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: ["v1"], operations: [${operations}], resources: [configmaps]}]
${spec.replace(/^(?=.)/gm, '  ')}
  validations:
${validations.replace(/^(?=.)/gm, '    ')}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: bound}
spec:
  policyName: asked
  validationActions: [${actions}]
${binding.replace(/^(?=.)/gm, '  ')}
${more}`

const CONFIG_MAP = (level: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: apps\n  labels: {team: dev}\ndata:\n  level: ${level}\n`

function fleetWith(policy: Policy, object: string) {
  return miniFleet({
    fleet: {
      'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, policies.yaml]\n',
      'tenants/policies.yaml': policies(policy),
    },
    dev: object === '' ? {} : withResource(object),
  })
}

function asked(policy: Policy, object = CONFIG_MAP('high'), base?: string) {
  const given = fleetWith(policy, object)
  const { verdict } = evaluationOf(given, base === undefined ? {} : { base: fleetWith(policy, base) })
  const all = [...verdict.violations, ...verdict.warnings].filter(
    ({ rule, tenant }) => rule.startsWith('policy-') && tenant === 'dev-team',
  )
  return all.filter(({ state }) => state === 'new')
}

const denied = (...args: Parameters<typeof asked>) =>
  asked(...args).map(({ rule, level }) => `${rule === 'policy-denied' ? 'denied' : rule} ${level}`)

const LOW = `- {expression: "object.data.level == 'low'", message: "keep it low"}`

test('a refusal is a violation at the field, in the words of the policy, with its line', () => {
  const [violation, ...others] = asked({ validations: LOW })
  expect(others).toEqual([])
  expect(violation).toMatchObject({
    rule: 'policy-denied',
    level: 'violation',
    origin: { file: 'deploy/extra.yaml', line: 8 },
    tenant: 'dev-team',
  })
  expect(plainText(violation!.message)).toBe(
    'ConfigMap apps/settings: ValidatingAdmissionPolicy asked with binding "bound" does not allow it: "keep it low". The policy is at tenants/policies.yaml:10. It denies when system:serviceaccount:apps:dev-team tries to create the object.',
  )
  expect(denied({ validations: LOW }, CONFIG_MAP('low'))).toEqual([])
})

test('actions decide how much it counts, and a policy without a binding says nothing', () => {
  expect(denied({ validations: LOW, actions: 'Warn, Audit' })).toEqual(['denied warning'])
  expect(denied({ validations: LOW, actions: 'Audit' })).toEqual(['denied warning'])
  expect(denied({ validations: LOW, actions: 'Deny, Audit' })).toEqual(['denied violation'])
})

describe('what no check outside of the cluster knows', () => {
  const is = (expression: string): Policy => ({ validations: `- {expression: "${expression}"}` })
  test.each([
    ['the account', "request.userInfo.username == 'system:serviceaccount:apps:dev-team'", true],
    ['another account', "request.userInfo.username == 'system:serviceaccount:apps:other'", false],
    ['its groups', "'system:serviceaccounts:apps' in request.userInfo.groups", true],
    ['the labels of its Namespace', "namespaceObject.metadata.labels['kubernetes.io/metadata.name'] == 'apps'", true],
    [
      'what the account may do',
      "authorizer.group('').resource('secrets').namespace('apps').check('create').allowed()",
      true,
    ],
    ['what it may not do', "authorizer.group('').resource('nodes').check('delete').allowed()", false],
    ['what it asks for', "authorizer.requestResource.check('update').allowed()", true],
  ])('%s', (_what, expression, isAllowed) => {
    expect(denied(is(expression))).toEqual(isAllowed ? [] : ['denied violation'])
  })

  test('the operation and the object before the change', () => {
    const fixed: Policy = {
      validations: `- {expression: "oldObject.data.level == object.data.level"}`,
      operations: 'UPDATE',
    }
    expect(denied(fixed)).toEqual([])
    expect(denied(fixed, CONFIG_MAP('high'), CONFIG_MAP('low'))).toEqual(['denied violation'])
    expect(denied(fixed, CONFIG_MAP('high'), CONFIG_MAP('high'))).toEqual([])
  })

  test('a deletion', () => {
    const kept: Policy = { validations: `- {expression: "oldObject.data.level != 'high'"}`, operations: 'DELETE' }
    expect(denied(kept, '', CONFIG_MAP('high'))).toEqual(['denied violation'])
    expect(denied(kept, '', CONFIG_MAP('low'))).toEqual([])
  })

  test('conditions', () => {
    const only = (name: string): Policy => ({
      validations: LOW,
      spec: `matchConditions: [{name: a, expression: "request.userInfo.username == 'system:serviceaccount:apps:${name}'"}]`,
    })
    expect(denied(only('dev-team'))).toEqual(['denied violation'])
    expect(denied(only('other'))).toEqual([])
  })

  test('selectors of namespaces and objects, on policy and binding', () => {
    const bound = (selector: string): Policy => ({ validations: LOW, binding: `matchResources: {${selector}}` })
    expect(denied(bound('objectSelector: {matchLabels: {team: dev}}'))).toEqual(['denied violation'])
    expect(denied(bound('objectSelector: {matchLabels: {team: ops}}'))).toEqual([])
    const labels = (name: string) => `namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ${name}}}`
    expect(denied(bound(labels('apps')))).toEqual(['denied violation'])
    expect(denied(bound(labels('ops')))).toEqual([])
    expect(
      denied(
        bound(
          'excludeResourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]',
        ),
      ),
    ).toEqual([])
  })
})

test('parameters come from the fleet', () => {
  const limits = `---
apiVersion: v1
kind: ConfigMap
metadata: {name: limits, namespace: flux-system}
data: {level: low}
`
  const of = (name: string, action: string): Policy => ({
    validations: `- {expression: "object.data.level == params.data.level", messageExpression: "'at most ' + params.data.level"}`,
    spec: 'paramKind: {apiVersion: v1, kind: ConfigMap}',
    binding: `paramRef: {name: ${name}, namespace: flux-system, parameterNotFoundAction: ${action}}`,
    more: limits,
  })
  const [violation] = asked(of('limits', 'Deny'))
  expect(plainText(violation!.message)).toContain('"at most low"')
  expect(denied(of('limits', 'Deny'), CONFIG_MAP('low'))).toEqual([])
  // they may be on the cluster
  expect(denied(of('absent', 'Allow'))).toEqual(['policy-not-evaluated warning'])
  expect(denied(of('absent', 'Deny'))).toEqual(['policy-not-evaluated warning'])
})

test('an error follows failurePolicy', () => {
  const validations = `- {expression: "object.data.absent == 'a'"}`
  expect(denied({ validations })).toEqual(['denied violation'])
  expect(denied({ validations, spec: 'failurePolicy: Ignore' })).toEqual([])
})

test('variables are worked out when they are used', () => {
  const spec = `variables: [{name: level, expression: "object.data.level"}, {name: broken, expression: "object.data.absent"}]`
  expect(denied({ validations: `- {expression: "variables.level == 'high'"}`, spec })).toEqual([])
  expect(denied({ validations: `- {expression: "variables.broken == 'high'"}`, spec })).toEqual(['denied violation'])
})

test('what depends on the cluster is said, not passed', () => {
  const validations = `- {expression: "object.metadata.uid != ''"}`
  expect(denied({ validations })).toEqual(['policy-not-evaluated warning'])
  expect(denied({ validations: `- {expression: "object.metadata.uid != '' || true"}` })).toEqual([])
  expect(denied({ validations: `- {expression: "'a'.unknownFunction()"}` })).toEqual(['policy-not-evaluated warning'])
})

test('a policy that no engine evaluates is said when the platform adds it', () => {
  const mutating = `apiVersion: admissionregistration.k8s.io/v1beta1\nkind: MutatingAdmissionPolicy\nmetadata: {name: m}\n`
  const images = `apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: i}\nspec: {rules: [{name: a, match: {any: [{resources: {kinds: [Pod]}}]}, verifyImages: []}]}\n`
  const fleet = (text: string) =>
    miniFleet({
      fleet: {
        'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, policies.yaml]\n',
        'tenants/policies.yaml': text,
      },
    })
  const none = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: flux-system}\n`
  const saidOf = (head: string, base: string) =>
    evaluationOf(fleet(head), { base: fleet(base) })
      .verdict.warnings.filter(({ rule, state }) => rule === 'policy-not-evaluated' && state === 'new')
      .map(({ message }) => plainText(message))
  expect(saidOf(`${mutating}---\n${images}`, none)).toEqual([
    expect.stringContaining('does not evaluate policies of this kind'),
    expect.stringContaining('does not evaluate "verifyImages" in it'),
  ])
  expect(saidOf(`${mutating}---\n${images}`, `${mutating}---\n${images}`)).toEqual([])
})
