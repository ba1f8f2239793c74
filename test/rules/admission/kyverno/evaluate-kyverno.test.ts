import { expect, test } from 'vitest'
import { plainText } from '../../../../src/base/message.ts'
import { evaluationOf } from '../../../fleet/fleet-of.ts'
import { miniFleet, withResource } from '../../../fleet/mini-fleet.ts'

const policy = (rule: string, action = 'Enforce', annotations = '{}') => `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name: asked
  annotations: ${annotations}
spec:
  validationFailureAction: ${action}
  rules:
    - name: first
${rule.replace(/^(?=.)/gm, '      ')}
`
const POD = 'match: {any: [{resources: {kinds: [Pod]}}]}\n'
const DEPLOYMENT = (container: string, more = '') => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: asked
  namespace: apps
  labels: {team: dev}
spec:
  replicas: 2
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
${more.replace(/^(?=.)/gm, '      ')}      containers:
        - name: web
          ${container}
`

function said(rule: string, object: string, action?: string, annotations?: string): string[] {
  const given = miniFleet({
    fleet: {
      'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, policies.yaml]\n',
      'tenants/policies.yaml': policy(rule, action, annotations),
    },
    dev: withResource(object),
  })
  const { verdict } = evaluationOf(given)
  return [...verdict.violations, ...verdict.warnings]
    .filter(({ rule: id, object: one }) => id.startsWith('policy-') && one.name === 'asked')
    .map(({ rule: id, level, field, origin }) => `${id} ${level} ${field} ${origin.line}`)
}

const LATEST = `${POD}validate: {message: no latest, pattern: {spec: {containers: [{image: "!*:latest"}]}}}`

test('a rule about Pods is applied to the templates of what makes Pods, at the line of the field', () => {
  expect(said(LATEST, DEPLOYMENT('image: nginx:latest'))).toEqual([
    'policy-denied violation /spec/template/spec/containers/0/image 15',
  ])
  expect(said(LATEST, DEPLOYMENT('image: nginx:1.2'))).toEqual([])
  expect(said(LATEST, DEPLOYMENT('image: nginx:latest'), 'Audit')).toEqual([
    'policy-denied warning /spec/template/spec/containers/0/image 15',
  ])
  const off = '{pod-policies.kyverno.io/autogen-controllers: none}'
  expect(said(LATEST, DEPLOYMENT('image: nginx:latest'), 'Enforce', off)).toEqual([])
})

test('anchors, comparisons and defaults', () => {
  const rule = (pattern: string) =>
    `match: {any: [{resources: {kinds: [Deployment]}}]}\nvalidate: {pattern: ${pattern}}`
  const object = DEPLOYMENT('image: nginx:1.2\n          resources: {limits: {memory: 1Gi}}')
  const inContainers = (inner: string) => `{spec: {template: {spec: {containers: [${inner}]}}}}`
  for (const [pattern, isAllowed] of [
    ['{spec: {replicas: ">1"}}', true],
    ['{spec: {replicas: "3-5"}}', false],
    ['{spec: {replicas: "1 | 2"}}', true],
    ['{metadata: {labels: {team: "?*"}}}', true],
    ['{metadata: {labels: {owner: "?*"}}}', false],
    ['{metadata: {labels: {"te*": dev}}}', true],
    [inContainers('{resources: {limits: {memory: "<=512Mi"}}}'), false],
    [inContainers('{resources: {limits: {memory: "<=1024Mi"}}}'), true],
    [inContainers('{"(image)": "*:latest", imagePullPolicy: Always}'), true],
    [inContainers('{"(image)": "nginx:*", imagePullPolicy: Always}'), false],
    [inContainers('{imagePullPolicy: IfNotPresent}'), true],
    [inContainers('{"=(securityContext)": {privileged: false}}'), true],
    [inContainers('{"X(resources)": "null"}'), false],
    ['{spec: {template: {spec: {"=(hostNetwork)": false}}}}', true],
    ['{spec: {template: {spec: {"^(containers)": [{name: web}]}}}}', true],
    ['{spec: {template: {spec: {"^(containers)": [{name: other}]}}}}', false],
  ] as const) {
    expect([pattern, said(rule(pattern), object).length === 0]).toEqual([pattern, isAllowed])
  }
})

test('a wildcard for several labels is decided only where all of them say the same', () => {
  const object = DEPLOYMENT('image: nginx').replace('labels: {team: dev}', 'labels: {team: dev, tenant: ops}')
  const rule = (value: string) =>
    `match: {any: [{resources: {kinds: [Deployment]}}]}\nvalidate: {pattern: {metadata: {labels: {"te*": ${value}}}}}`
  expect(said(rule('"?*"'), object)).toEqual([])
  expect(said(rule('none'), object).map(one => one.split(' ')[0])).toEqual(['policy-denied'])
  expect(said(rule('dev'), object).map(one => one.split(' ')[0])).toEqual(['policy-not-evaluated'])
})

test('one of several patterns is enough', () => {
  const rule = `${POD}validate: {anyPattern: [{spec: {containers: [{image: "a*"}]}}, {spec: {containers: [{image: "n*"}]}}]}`
  expect(said(rule, DEPLOYMENT('image: nginx'))).toEqual([])
  expect(said(rule, DEPLOYMENT('image: busybox'))).toHaveLength(1)
})

test('what is not evaluated is said by its name', () => {
  const deny = (key: string) =>
    `${POD}context: [{name: spaces, apiCall: {urlPath: /api/v1/namespaces}}]\nvalidate: {deny: {conditions: {any: [{key: "${key}", operator: Equals, value: CREATE}]}}}`
  expect(said(deny('{{ request.operation }}'), DEPLOYMENT('image: nginx'))).toEqual(['policy-denied violation  1'])
  expect(said(deny('{{ spaces }}'), DEPLOYMENT('image: nginx'))).toEqual(['policy-not-evaluated warning  1'])
  const uid = DENY(OF('metadata.uid'), 'Equals', 'a')
  expect(said(uid, DEPLOYMENT('image: nginx'))).toEqual(['policy-not-evaluated warning  1'])
  // Kyverno's webhook refuses what it cannot evaluate
  const variable = `${POD}validate: {pattern: {spec: {containers: [{image: "{{ x }}"}]}}}`
  expect(said(variable, DEPLOYMENT('image: nginx'))).toEqual(['policy-denied violation  1'])
  expect(said(variable, DEPLOYMENT('image: nginx'), 'Audit')).toEqual(['policy-denied warning  1'])
})

const DENY = (key: string, operator: string, value: string) =>
  `match: {any: [{resources: {kinds: [Deployment]}}]}\nvalidate: {deny: {conditions: {all: [{key: ${JSON.stringify(key)}, operator: ${operator}, value: ${value}}]}}}`
const OF = (key: string) => `{{ request.object.${key} }}`

test.each([
  [OF('spec.replicas'), 'GreaterThan', '1', true],
  [OF('spec.replicas'), 'LessThan', '2', false],
  [OF('spec.replicas'), 'AnyIn', '"1-5"', true],
  [OF('spec.replicas'), 'AnyNotIn', '"1-5"', false],
  [OF('metadata.labels.team'), 'Equals', '"d*"', true],
  [OF('metadata.labels.team'), 'NotEquals', 'dev', false],
  [OF("metadata.labels.owner || 'nobody'"), 'Equals', 'nobody', true],
  [OF('spec.template.spec.containers[].image'), 'AllIn', '["nginx*"]', true],
  [OF('spec.template.spec.containers[].image'), 'AnyNotIn', '["nginx*"]', false],
  [OF('spec.template.spec.containers[0].resources.limits.memory'), 'LessThan', '2Gi', true],
  [OF('metadata.annotations.pause'), 'GreaterThan', '1h', true],
  [OF('metadata.annotations.pause'), 'DurationLessThanOrEquals', '5400s', true],
  [OF('metadata.annotations.version'), 'GreaterThanOrEquals', '"1.20.0"', true],
  ['{{ images.containers.web.registry }}', 'Equals', 'docker.io', true],
  ['{{ request.userInfo.username }}', 'Equals', '"system:serviceaccount:apps:*"', true],
  ['{{ serviceAccountNamespace }}/{{ serviceAccountName }}', 'Equals', 'apps/dev-team', true],
  // an account without Roles has no such key, and the error denies
  ['{{ request.roles }}', 'AnyIn', '["kube-system:admin"]', true],
  ['{{ request.roles || `[]` }}', 'AnyIn', '["kube-system:admin"]', false],
  ['{{ to_upper(request.object.metadata.name) }}', 'Equals', 'ASKED', true],
  ["{{ request.object.metadata.{{ to_lower('NAME') }} }}", 'Equals', 'asked', true],
])('deny: %s %s %s is %s', (key, operator, value, isDenied) => {
  const object = DEPLOYMENT('image: nginx:1.2\n          resources: {limits: {memory: 1Gi}}').replace(
    '  labels: {team: dev}',
    '  labels: {team: dev}\n  annotations: {pause: 90m, version: 1.30.0}',
  )
  const found = said(DENY(key, operator, value), object)
  expect(found.map(one => one.split(' ')[0])).toEqual(isDenied ? ['policy-denied'] : [])
})

test('foreach asks each element, with its own context and preconditions', () => {
  const loop = (more: string) => `${POD}validate: {foreach: [{list: "request.object.spec.containers", ${more}}]}`
  const object = DEPLOYMENT('image: nginx:latest')
  expect(said(loop('pattern: {image: "!*:latest"}'), object)).toHaveLength(1)
  expect(said(loop('pattern: {image: "nginx:*"}'), object)).toEqual([])
  const context = 'context: [{name: tag, variable: {jmesPath: "split(element.image, \':\')[1]"}}]'
  const deny = 'deny: {conditions: {all: [{key: "{{ tag }}", operator: Equals, value: latest}]}}'
  expect(said(loop(`${context}, ${deny}`), object)).toHaveLength(1)
  const others = 'preconditions: {all: [{key: "{{ element.name }}", operator: NotEquals, value: web}]}'
  expect(said(loop(`${others}, ${context}, ${deny}`), object)).toEqual([])
})

test('the message is the one of the policy', () => {
  const given = miniFleet({
    fleet: {
      'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, policies.yaml]\n',
      'tenants/policies.yaml': policy(LATEST),
    },
    dev: withResource(DEPLOYMENT('image: nginx:latest')),
  })
  const [finding] = evaluationOf(given).verdict.violations.filter(({ rule }) => rule === 'policy-denied')
  expect(plainText(finding!.message)).toBe(
    'Deployment apps/asked: ClusterPolicy asked with rule "first" does not allow it: "no latest". The policy is at tenants/policies.yaml:9. It denies when system:serviceaccount:apps:dev-team tries to create the object.',
  )
})
