import { describe, expect, test } from 'vitest'
import type { AdmissionRequest } from '../../../../src/admission/admission/admission-request.ts'
import { evaluateKyverno } from '../../../../src/admission/kyverno/evaluate-kyverno.ts'
import type { MapNode } from '../../../../src/kube/node.ts'
import { idOf, type KubeObject } from '../../../../src/kube/object.ts'
import { parseDocuments } from '../../../../src/kube/yaml/parse-documents.ts'
import { testWorld } from '../../../../tools/oracles/kyverno-tests/test-world.ts'

const ORIGIN = { repository: '', file: 'a.yaml', line: 1, column: 1 }
const objectsIn = (text: string): KubeObject[] =>
  parseDocuments({ repository: '', path: 'a.yaml' }, new TextEncoder().encode(text)).map(root => ({
    ...{ root: root as MapNode, trail: [] },
  }))

const MAP = (level: string, more = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: apps${more}}\ndata: {level: "${level}"}\n`
const rule = (name: string, validate: string, more = '') =>
  `    - name: ${name}\n      match: {any: [{resources: {kinds: [ConfigMap]}}]}\n${more}      validate: ${validate}\n`
const policy = (rules: string, spec = '') =>
  `---\napiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec:\n  validationFailureAction: Enforce\n${spec}  rules:\n${rules}`
const LOW = rule('low', '{pattern: {data: {level: low}}}')
const settings = (data: string) =>
  `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: kyverno, namespace: kyverno}\ndata:\n${data}\n`
const NAMESPACE = '---\napiVersion: v1\nkind: Namespace\nmetadata: {name: apps, labels: {team: dev}}\n'

/** What Kyverno's policies say about `a`: `<rule> <action>`, or `<rule> ? <why>`. */
function said(fleet: string, object = MAP('high'), before?: string): string[] {
  const [asked] = objectsIn(object)
  const old = before === undefined ? undefined : objectsIn(before)[0]
  const request: AdmissionRequest = {
    ...{ object: asked!, id: idOf(asked!), operation: old ? 'UPDATE' : 'CREATE', resource: 'configmaps' },
    ...{ isNamespaced: true, ...(old ? { old } : {}) },
    user: { name: 'system:serviceaccount:apps:deployer', groups: ['system:serviceaccounts:apps'] },
  }
  const { findings, notEvaluated } = evaluateKyverno(testWorld(objectsIn(fleet + NAMESPACE), ORIGIN), request)
  return [...findings.map(one => `${one.rule} ${one.action}`), ...notEvaluated.map(one => `${one.rule} ? ${one.why}`)]
}

const DENIED = ['low deny']

describe("settings of Kyverno's ConfigMap", () => {
  const binding = `---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: b, namespace: apps}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: flux-edit}\nsubjects: [{kind: ServiceAccount, name: deployer}]\n`
  test.each([
    ['excludeGroups', '  excludeGroups: "system:nodes, system:serviceaccounts:*"', []],
    ['other groups', '  excludeGroups: system:nodes', DENIED],
    ['excludeUsernames', '  excludeUsernames: "*:deployer"', []],
    ['but not this one', '  excludeUsernames: "!system:serviceaccount:apps:*,*"', DENIED],
    ['excludeClusterRoles', '  excludeClusterRoles: "flux-*"', []],
    ['excludeRoles', '  excludeRoles: "flux-*"', DENIED],
    ['resourceFilters', '  resourceFilters: "[ConfigMap,apps,*]"', []],
    ['an object of another name', '  resourceFilters: "[ConfigMap,apps,b]"', DENIED],
    [
      'webhooks',
      `  webhooks: '{"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["dev"]}]}}'`,
      [],
    ],
    ['webhooks of other namespaces', `  webhooks: '{"namespaceSelector": {"matchLabels": {"team": "dev"}}}'`, DENIED],
    ['webhooks by object', `  webhooks: '{"objectSelector": {"matchLabels": {"x": "y"}}}'`, []],
    ['webhooks that Kyverno cannot read', "  webhooks: '{'", DENIED],
    [
      'matchConditions',
      `  matchConditions: '[{"name": "n", "expression": "!request.userInfo.username.endsWith(''deployer'')"}]'`,
      [],
    ],
    [
      'matchConditions that are met',
      `  matchConditions: '[{"name": "n", "expression": "request.operation == ''CREATE''"}]'`,
      DENIED,
    ],
  ])('%s', (_, data, expected) => {
    expect(said(policy(LOW) + binding + settings(data))).toEqual(expected)
  })

  test('conditions that only the cluster can decide leave the rule open', () => {
    const open = settings(`  matchConditions: '[{"name": "n", "expression": "object.metadata.uid == ''x''"}]'`)
    expect(said(policy(LOW) + open)).toEqual(['low ? metadata.uid is set by the cluster'])
  })
})

test("a policy's own matchConditions replace those of the ConfigMap", () => {
  const own = (expression: string) =>
    policy(LOW, `  webhookConfiguration: {matchConditions: [{name: n, expression: "${expression}"}]}\n`)
  const none = settings(`  matchConditions: '[{"name": "n", "expression": "false"}]'`)
  expect(said(own("object.metadata.name == 'a'") + none)).toEqual(DENIED)
  expect(said(own("object.metadata.name == 'b'"))).toEqual([])
  expect(said(own('object.nothing == 1'))).toEqual(DENIED)
})

test('of a policy that applies one rule, the first that passes or fails is the only one', () => {
  const [passes, skips] = [
    rule('passes', '{pattern: {data: {level: high}}}'),
    rule('skips', '{pattern: {(kind): Pod}}'),
  ]
  const one = '  applyRules: One\n'
  expect(said(policy(passes + LOW, one))).toEqual([])
  expect(said(policy(passes + LOW))).toEqual(DENIED)
  expect(said(policy(skips + LOW + rule('later', '{pattern: {data: {level: low}}}'), one))).toEqual(DENIED)
  const open = rule('open', '{pattern: {metadata: {uid: x}}}')
  expect(said(policy(open + LOW, one))).toEqual([
    expect.stringContaining('open ? metadata.uid'),
    'low ? applyRules is One, and an earlier rule of the policy is not evaluated',
  ])
})

describe('an update of an object that violated the rule before', () => {
  test('is admitted, and only reported', () => {
    expect(said(policy(LOW), MAP('higher'), MAP('high'))).toEqual(['low audit'])
    expect(said(policy(LOW), MAP('high'), MAP('low'))).toEqual(DENIED)
    const closed = rule('low', '{allowExistingViolations: false, pattern: {data: {level: low}}}')
    expect(said(policy(closed), MAP('higher'), MAP('high'))).toEqual(DENIED)
  })

  test('counts only if the rule matched it as it was', () => {
    const labelled = LOW.replace('kinds: [ConfigMap]', 'kinds: [ConfigMap], selector: {matchLabels: {x: y}}')
    expect(said(policy(labelled), MAP('high', ', labels: {x: y}'), MAP('high'))).toEqual(DENIED)
    expect(said(policy(labelled), MAP('high', ', labels: {x: y}'), MAP('higher', ', labels: {x: y}'))).toEqual([
      'low audit',
    ])
  })

  test('by a rule with preconditions or users is refused, as Kyverno does not find that the rule matched', () => {
    const conditions = rule(
      'low',
      '{pattern: {data: {level: low}}}',
      '      preconditions: [{key: a, operator: Equals, value: a}]\n',
    )
    expect(said(policy(conditions), MAP('higher'), MAP('high'))).toEqual(DENIED)
    const users = LOW.replace(
      'kinds: [ConfigMap]}',
      'kinds: [ConfigMap]}, subjects: [{kind: User, name: "*:deployer"}]',
    )
    expect(said(policy(users), MAP('higher'), MAP('high'))).toEqual(DENIED)
  })

  test('is not decided where Kyverno compares it with values of the new object', () => {
    const named = rule('low', '{pattern: {data: {level: "{{ request.object.metadata.name }}"}}}')
    expect(said(policy(named), MAP('higher'), MAP('high'))[0]).toContain('low ? allowExistingViolations')
    expect(said(policy(named))).toEqual(DENIED)
  })
})

test('a PolicyException whose operations are others is not decided', () => {
  const exception = (operations: string) =>
    `---\napiVersion: kyverno.io/v2\nkind: PolicyException\nmetadata: {name: e, namespace: kyverno}\nspec: {exceptions: [{policyName: p, ruleNames: [low]}], match: {any: [{resources: {kinds: [ConfigMap], operations: [${operations}]}}]}}\n`
  expect(said(policy(LOW) + exception('CREATE'))).toEqual([])
  expect(said(policy(LOW) + exception('DELETE'))[0]).toContain('low ? a PolicyException names operations')
})

describe('API calls', () => {
  const asks = (urlPath: string, jmesPath: string) =>
    policy(
      rule(
        'low',
        '{deny: {conditions: {all: [{key: "{{ found }}", operator: Equals, value: dev}]}}}',
        `      context: [{name: found, apiCall: {urlPath: "${urlPath}", jmesPath: "${jmesPath}"}}]\n`,
      ),
    )
  test('are answered by objects of the fleet that a cluster does not change', () => {
    expect(said(asks('/api/v1/namespaces/{{ request.namespace }}', 'metadata.labels.team'))).toEqual(DENIED)
    expect(said(asks('/api/v1/namespaces/apps', "metadata.labels.other || ''"))).toEqual([])
  })
  test.each([
    ['/api/v1/namespaces/other', 'namespaces/other is not in the fleet'],
    ['/api/v1/namespaces/apps/pods', 'it lists pods, and the fleet does not show all pods of a cluster'],
    [
      '/apis/apps/v1/namespaces/apps/deployments/a',
      'it reads deployments, to which a cluster adds fields that the fleet does not show',
    ],
  ])('else not: %s', (urlPath, why) => {
    expect(said(asks(urlPath, '@'))).toEqual([`low ? apiCall of "${urlPath}": ${why}`])
  })
  test('what the cluster fills in is not known', () => {
    expect(said(asks('/api/v1/namespaces/apps', 'metadata.uid'))).toEqual(['low ? metadata.uid is set by the cluster'])
  })
  test('global context entries', () => {
    const reads = policy(
      rule(
        'low',
        '{deny: {conditions: {all: [{key: "{{ found }}", operator: Equals, value: dev}]}}}',
        '      context: [{name: found, globalReference: {name: g}}]\n',
      ),
    )
    const entry =
      '---\napiVersion: kyverno.io/v2alpha1\nkind: GlobalContextEntry\nmetadata: {name: g}\nspec: {kubernetesResource: {group: apps, version: v1, resource: deployments}}\n'
    expect(said(reads)).toEqual(['low ? GlobalContextEntry g is not in the fleet'])
    expect(said(reads + entry)).toEqual(['low ? GlobalContextEntry g holds all deployments of a cluster'])
  })
})
