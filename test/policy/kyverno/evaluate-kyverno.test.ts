import { expect, test } from 'vitest'
import { plainText } from '../../../src/message/message.ts'
import { evaluationOf } from '../../fleet/fleet-of.ts'
import { miniFleet, withResource } from '../../fleet/mini-fleet.ts'

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

test('one of several patterns is enough', () => {
  const rule = `${POD}validate: {anyPattern: [{spec: {containers: [{image: "a*"}]}}, {spec: {containers: [{image: "n*"}]}}]}`
  expect(said(rule, DEPLOYMENT('image: nginx'))).toEqual([])
  expect(said(rule, DEPLOYMENT('image: busybox'))).toHaveLength(1)
})

test('what is not evaluated is said by its name', () => {
  const rule = `${POD}validate: {deny: {conditions: {any: [{key: "{{ request.operation }}", operator: Equals, value: CREATE}]}}}`
  expect(said(rule, DEPLOYMENT('image: nginx'))).toEqual(['policy-not-evaluated warning  1'])
  const variable = `${POD}validate: {pattern: {spec: {containers: [{image: "{{ x }}"}]}}}`
  expect(said(variable, DEPLOYMENT('image: nginx'))).toHaveLength(1)
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
