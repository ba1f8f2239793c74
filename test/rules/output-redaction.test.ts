import { describe, expect, test } from 'vitest'
import { formats } from '../../src/report/formats/formats.ts'
import { rules } from '../../src/rules/registry.ts'
import { evaluationOf } from '../fleet/fleet-of.ts'
import { miniFleet, withResource } from '../fleet/mini-fleet.ts'

const MARK = 'hunter2hunter2'
const ENCODED = Buffer.from(MARK).toString('base64')
const TOKEN = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
const NAME = 'metadata: {name: x, namespace: apps}\n'
const secret = (body: string) => `apiVersion: v1\nkind: Secret\n${NAME}${body}`
const pod = (body: string) => `apiVersion: v1\nkind: Pod\n${NAME}spec: {containers: [{name: x, ${body}}]}\n`

/** What a tenant commits, with a secret somewhere in it, and whether anything is found. */
const CASES: readonly (readonly [what: string, content: string])[] = [
  ['a value in a Secret', secret(`stringData: {password: ${MARK}}\n`)],
  ['a value in base64', secret(`data: {password: ${ENCODED}}\n`)],
  ['a value that is no text', secret(`data: {password: [${MARK}]}\n`)],
  ['data that is no map', secret(`stringData: ${MARK}\n`)],
  ['bad indentation below the value', secret(`stringData:\n  password: "${MARK}\n bad indent\n`)],
  ['a quote that does not end', secret(`stringData:\n  password: '${MARK}\n`)],
  ['a tab', secret(`stringData:\n\tpassword: ${MARK}\n`)],
  ['the same key twice', secret(`stringData:\n  password: ${MARK}\n  password: ${MARK}\n`)],
  ['an alias to nothing', secret(`stringData:\n  password: *${MARK}\n`)],
  ['a tag of nobody', secret(`stringData:\n  password: !!binary ${MARK}\n`)],
  ['a merge key', secret(`stringData:\n  <<: {password: ${MARK}}\n`)],
  ['a document that is the value', `${secret('type: Opaque\n')}---\n${MARK}\n`],
  ['a byte that is no text', secret(`stringData:\n  password: ${MARK}\u0000\n`)],
  ['bad JSON', `{"apiVersion": "v1", "kind": "Secret", "stringData": {"password": "${MARK}"`],
  ['a ConfigMap', `apiVersion: v1\nkind: ConfigMap\n${NAME}data: {password: ${MARK}}\n`],
  ['an environment', pod(`env: [{name: DB_PASSWORD, value: ${MARK}}]`)],
  ['a token in an argument', pod(`args: ["--token=${TOKEN}"]`)],
  ['a token in a comment', `# ${TOKEN}\n${pod('image: x')}`],
  ['a token as a capability', pod(`securityContext: {capabilities: {add: [X]}}, args: [${TOKEN}]`)],
  [
    'values of a chart',
    `apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n${NAME}spec: {serviceAccountName: dev-team, chartRef: {kind: OCIRepository, name: x}, values: {auth: {password: ${MARK}, token: ${TOKEN}}}}\n`,
  ],
  [
    'a Secret inside of a list of manifests',
    `apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\n${NAME}spec: {serviceAccountName: dev-team, resources: [{apiVersion: v1, kind: Secret, metadata: {name: y}, stringData: {password: ${MARK}}}]}\n`,
  ],
]

const LEAKS = [MARK, ENCODED, TOKEN, TOKEN.slice(4)]
const INFO = { here: '', rules, version: '0' }

test.each(CASES)('%s is found, and said nowhere', (_what, content) => {
  const { verdict } = evaluationOf(miniFleet({ dev: withResource(content) }))
  expect(verdict.violations.length + verdict.warnings.length + verdict.errors.length).toBeGreaterThan(0)
  const outputs = [JSON.stringify(verdict), ...[...formats.values()].map(format => format(verdict, INFO))]
  for (const output of outputs) for (const leak of LEAKS) expect(output).not.toContain(leak)
})

test('a generator that cannot read its file says nothing of what it holds', () => {
  const dev = {
    'deploy/kustomization.yaml': 'namespace: apps\nsecretGenerator: [{name: x, envs: [x.env]}]\n',
    'deploy/x.env': `PASSWORD ${MARK}\n=${MARK}\n`,
  }
  const { verdict } = evaluationOf(miniFleet({ dev }))
  expect(JSON.stringify(verdict)).not.toContain(MARK)
})

test('a patch of a Secret that fails says nothing of its values', () => {
  const dev = {
    'deploy/kustomization.yaml': `resources: [secret.yaml]
patches:
  - target: {kind: Secret}
    patch: |
      - op: test
        path: /stringData/password
        value: ${MARK}
`,
    'deploy/secret.yaml': secret('stringData: {password: other}\n'),
  }
  const { verdict } = evaluationOf(miniFleet({ dev }))
  expect(verdict.errors.length).toBeGreaterThan(0)
  expect(JSON.stringify(verdict)).not.toContain(MARK)
})

test('two secrets of the same place are the same violation: no hash of a value is kept', () => {
  const of = (value: string) =>
    evaluationOf(miniFleet({ dev: withResource(secret(`stringData: {password: ${value}}\n`)) })).verdict.violations
  expect(of('one').map(({ fingerprint }) => fingerprint)).toEqual(of('two').map(({ fingerprint }) => fingerprint))
})

describe('a policy whose message quotes the object', () => {
  const binding = `---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: v}
spec: {policyName: v, validationActions: [Deny]}
`
  const native = (validation: string) => `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: v}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [secrets]}]}
  validations: [${validation}]
${binding}`
  const kyverno = (message: string, conditions: string) => `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: v}
spec:
  validationFailureAction: Enforce
  rules:
    - name: no-password
      match: {any: [{resources: {kinds: [Secret]}}]}
      validate: {message: '${message}', deny: {conditions: {any: [${conditions}]}}}
`
  const KEY = '{{ request.object.data.password }}'
  const POLICIES: readonly (readonly [string, string, string])[] = [
    [
      'an expression',
      native(`{expression: "false", messageExpression: "'found: ' + object.data.password"}`),
      'found: ***',
    ],
    [
      'a part',
      native(`{expression: "false", messageExpression: "'found: ' + object.data.password.substring(0, 20)"}`),
      '***',
    ],
    ['an error', native(`{expression: "int(object.data.password) > 0"}`), 'resulted in error'],
    ['fixed words', native(`{expression: "false", message: "rotate it, please"}`), 'rotate it, please'],
    [
      'a variable of Kyverno',
      kyverno(`found: ${KEY}`, `{key: '${KEY}', operator: NotEquals, value: none}`),
      'found: ***',
    ],
    [
      'fixed words of Kyverno',
      kyverno('rotate it, please', `{key: '${KEY}', operator: NotEquals, value: none}`),
      'rotate it',
    ],
    [
      'a decoded one',
      kyverno(
        '{{ base64_decode(request.object.data.password) }}'.replaceAll("'", ''),
        `{key: '${KEY}', operator: NotEquals, value: none}`,
      ),
      '***',
    ],
  ]

  test.each(POLICIES)('%s', (_what, policy, said) => {
    const dev = withResource(secret(`data: {password: ${ENCODED}}\n`))
    const fleet = {
      'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, v.yaml]\n',
      'tenants/v.yaml': policy,
    }
    const { verdict } = evaluationOf(miniFleet({ dev, fleet }))
    const denied = verdict.violations.filter(({ rule }) => rule === 'policy-denied').map(({ message }) => message)
    expect(denied).toEqual([expect.stringContaining(said)])
    for (const leak of [...LEAKS, ENCODED.slice(0, 20)]) expect(JSON.stringify(verdict)).not.toContain(leak)
  })

  test('what only the former policies deny is said in the same way', () => {
    const dev = withResource(secret(`data: {password: ${ENCODED}}\n`))
    const list = (...files: string[]) => ({
      'tenants/kustomization.yaml': `resources: [dev-team.yaml, ops-team.yaml, ${files}]\n`,
    })
    const files = {
      'tenants/v.yaml': POLICIES[0]![1],
      'tenants/c.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: flux-system}\n',
    }
    const before = miniFleet({ fleet: { ...files, ...list('v.yaml') } })
    const { verdict } = evaluationOf(miniFleet({ dev, fleet: { ...files, ...list('c.yaml') } }), { base: before })
    expect(verdict.warnings.map(({ rule }) => rule)).toContain('policy-loosened')
    for (const leak of LEAKS) expect(JSON.stringify(verdict)).not.toContain(leak)
  })
})
