import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { DEV_URL, devFiles, FLEET_URL, fleetFiles } from '../fleet/mini-fleet.ts'
import { run, scratch, write } from './run-main.ts'

const POLICY = (action = 'Enforce') => `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: names}
spec:
  validationFailureAction: ${action}
  rules:
    - name: no-old
      match: {any: [{resources: {kinds: [ConfigMap]}}]}
      validate: {message: old names are refused, pattern: {metadata: {name: "!old-*"}}}
    - name: spread
      match: {any: [{resources: {kinds: [Namespace]}}]}
      generate: {kind: NetworkPolicy}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: levels}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: ["v1"], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: "!has(object.data) || object.data.level == 'low'", message: use low}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: bound}
spec: {policyName: levels, validationActions: [Audit]}
`
const MAP = (name: string, more = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: apps}\n${more}`

function fleetWith(extra: string, action?: string) {
  const dir = scratch()
  write(dir, {
    ...Object.fromEntries(Object.entries(fleetFiles).map(([path, text]) => [`fleet/${path}`, text])),
    'fleet/tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, policies.yaml]\n',
    'fleet/tenants/policies.yaml': POLICY(action),
    ...Object.fromEntries(Object.entries(devFiles).map(([path, text]) => [`dev/${path}`, text])),
    'dev/deploy/kustomization.yaml': 'resources: [web.yaml, extra.yaml]\n',
    'dev/deploy/extra.yaml': extra,
  })
  return { dir, args: ['test', 'fleet', '--url', FLEET_URL, '--repo', `${DEV_URL}=${join(dir, 'dev')}`] }
}

describe('the policies of a fleet', () => {
  test('a table of what each rule says, and exit code 1 for an object that is denied', async () => {
    const { dir, args } = fleetWith(`${MAP('old-settings')}---\n${MAP('new', 'data: {level: high}\n')}`)
    const { code, stdout } = await run(dir, 'policy', ...args)
    expect(stdout).toContain('2 policies: 2 passed, 1 denied, 1 warned or audited, 0 not evaluated')
    expect(stdout).toMatch(/staging +ClusterPolicy names +no-old +1 +1 +0 +0 +0\n/)
    // what denies comes first, and the place of a policy is whole, on a line of its own
    expect(stdout).toMatch(/staging +ClusterPolicy names +generate +all of it\n +tenants\/policies\.yaml:1\n/)
    expect(stdout).toContain('; 1 of the policies has a part\n  that is not evaluated\n')
    expect(stdout).toMatch(/staging +ValidatingAdmissionPolicy levels +bound +1 +0 +0 +1 +0/)
    expect(code).toBe(1)
  })

  test('what is only reported is no failure', async () => {
    const { dir, args } = fleetWith(MAP('old-settings'), 'Audit')
    expect((await run(dir, 'policy', ...args)).code).toBe(0)
  })

  test('json has every rule', async () => {
    const { dir, args } = fleetWith(MAP('old-settings'))
    const { stdout } = await run(dir, 'policy', ...args, '-o', 'json')
    expect(JSON.parse(stdout)).toMatchObject({
      policies: [
        { name: 'names', notEvaluated: ['generate'], rules: [{ rule: 'no-old', passed: 0, denied: 1 }] },
        {
          kind: 'ValidatingAdmissionPolicy',
          name: 'levels',
          cluster: 'staging',
          rules: [{ rule: 'bound', passed: 1 }],
        },
      ],
      tests: [],
    })
  })

  test('junit', async () => {
    const { dir, args } = fleetWith(MAP('old-settings'))
    const { stdout } = await run(dir, 'policy', ...args, '-o', 'junit')
    expect(stdout).toContain('<testsuite name="staging" tests="3" failures="1" errors="0" skipped="1">')
    expect(stdout).toContain('name="ClusterPolicy names no-old"><failure message="1 objects are denied"/>')
  })
})

const TEST = (results: string, more = '') => `apiVersion: cli.kyverno.io/v1alpha1
kind: Test
metadata: {name: names}
policies: [../policy.yaml]
resources: [resources.yaml]
${more}results:
${results}`
const RESULT = (name: string, result: string, rule = 'no-old', policy = 'names') =>
  `  - {policy: ${policy}, rule: ${rule}, resources: [${name}], kind: ConfigMap, result: ${result}}\n`

function testsWith(results: string, more = '', files: Readonly<Record<string, string>> = {}) {
  const dir = scratch()
  write(dir, {
    'policy.yaml': POLICY(),
    'tests/kyverno-test.yaml': TEST(results, more),
    'tests/resources.yaml': `${MAP('old-one')}---\n${MAP('good', 'data: {level: low}\n')}---\n${MAP('high', 'data: {level: high}\n')}`,
    ...files,
  })
  return dir
}

const rowsOf = (stdout: string) =>
  JSON.parse(stdout).tests[0].results.map(
    (one: Record<string, string>) => `${one.resource} ${one.actual} ${one.status}`,
  )

describe('tests of policies', () => {
  test('what is as expected, and what is not', async () => {
    const dir = testsWith(
      RESULT('old-one', 'fail') + RESULT('good', 'pass') + RESULT('good', 'fail') + RESULT('absent', 'pass'),
    )
    const { code, stdout } = await run(dir, 'policy', 'test', '.', '-o', 'json')
    expect(rowsOf(stdout)).toEqual([
      'ConfigMap apps/old-one fail ok',
      'ConfigMap apps/good pass ok',
      'ConfigMap apps/good pass failed',
      'absent not found failed',
    ])
    expect(code).toBe(1)
    const text = await run(dir, 'policy', 'test', '.')
    expect(text.stdout).toContain('tests/kyverno-test.yaml (names): 2 ok, 2 failed, 0 not evaluated')
    expect(text.stdout).toContain('failed (line 9): names no-old, ConfigMap apps/good: expected fail, got pass')
    expect((await run(dir, 'policy', 'test', '.', '-o', 'junit')).stdout).toContain(
      '<testsuite name="tests/kyverno-test.yaml" tests="4" failures="2" errors="0" skipped="0">',
    )
  })

  test('all right is exit code 0, also without a binding', async () => {
    const dir = testsWith(
      RESULT('old-one', 'fail') +
        RESULT('apps/good', 'pass') +
        '  - {policy: levels, resources: [high], kind: ConfigMap, result: fail, isValidatingAdmissionPolicy: true}\n',
    )
    const { code, stdout } = await run(dir, 'policy', 'test')
    expect([code, stdout]).toEqual([0, expect.stringContaining('1 test file: 3 ok, 0 failed, 0 not evaluated')])
  })

  test('exceptions, labels of namespaces and operations', async () => {
    const exception = `apiVersion: kyverno.io/v2\nkind: PolicyException\nmetadata: {name: one, namespace: x}\nspec: {exceptions: [{policyName: names, ruleNames: [no-old]}], match: {any: [{resources: {kinds: [ConfigMap], namespaceSelector: {matchLabels: {a: b}}}}]}}\n`
    const values = (label: string, operation = 'CREATE') =>
      `exceptions: [exception.yaml]\nvalues: {globalValues: {request.operation: ${operation}}, namespaceSelector: [{name: apps, labels: {a: ${label}}}]}\n`
    const files = { 'tests/exception.yaml': exception }
    const excepted = testsWith(RESULT('old-one', 'skip'), values('b'), files)
    expect((await run(excepted, 'policy', 'test')).code).toBe(0)
    const other = testsWith(RESULT('old-one', 'fail'), values('c'), files)
    expect((await run(other, 'policy', 'test')).code).toBe(0)
    // the policy speaks about CREATE alone
    const updated = testsWith(
      '  - {policy: levels, resources: [high], kind: ConfigMap, result: skip}\n',
      values('c', 'UPDATE'),
      files,
    )
    expect((await run(updated, 'policy', 'test')).code).toBe(0)
  })

  test('who asks', async () => {
    const policy = POLICY().replace(
      'resources: {kinds: [ConfigMap]}}',
      'resources: {kinds: [ConfigMap]}, subjects: [{kind: User, name: ada}]}',
    )
    const files = (name: string) => ({
      'policy.yaml': policy,
      'tests/user.yaml': `kind: UserInfo\nuserInfo: {username: ${name}, groups: [a]}\n`,
    })
    expect(
      (await run(testsWith(RESULT('old-one', 'fail'), 'userinfo: user.yaml\n', files('ada')), 'policy', 'test')).code,
    ).toBe(0)
    expect(
      (await run(testsWith(RESULT('old-one', 'fail'), 'userinfo: user.yaml\n', files('bob')), 'policy', 'test')).code,
    ).toBe(1)
  })

  test.each([
    ['a payload', RESULT('good', 'pass'), 'jsonPayload: x.json\n'],
    ['a changed object', RESULT('good', 'pass').replace('}', ', patchedResources: x.yaml}'), ''],
  ])('never green about what is not evaluated: %s', async (_what, results, more) => {
    const { code, stdout } = await run(testsWith(results, more), 'policy', 'test', '.', '-o', 'json')
    expect([code, rowsOf(stdout)]).toEqual([2, ['ConfigMap apps/good not evaluated not evaluated']])
  })

  test('a rule that makes objects is not evaluated, and one that is missing fails', async () => {
    const dir = testsWith(
      '  - {policy: names, rule: spread, resources: [good], kind: ConfigMap, result: pass}\n' +
        RESULT('good', 'pass', 'gone') +
        RESULT('good', 'pass', 'no-old', 'gone'),
    )
    const { code, stdout } = await run(dir, 'policy', 'test', '.', '-o', 'json')
    expect([code, rowsOf(stdout)]).toEqual([
      2,
      ['ConfigMap apps/good not evaluated not evaluated', ' not found failed', ' not found failed'],
    ])
  })

  test.each([
    [
      'a path out of the repository',
      'resources.yaml',
      'policies: [../../../../../../etc/passwd]\n',
      'leads out of the repository',
    ],
    ['an absolute path', 'resources.yaml', 'policies: [/etc/passwd]\n', 'is absolute'],
    ['an address', 'resources.yaml', 'policies: ["https://example.com/p.yaml"]\n', 'is an address'],
    ['a missing file', 'resources.yaml', 'policies: [gone.yaml]\n', 'does not exist'],
    ['a link', 'resources.yaml', 'policies: [link.yaml]\n', 'is a symlink, which is not followed'],
  ])('hostile: %s', async (_what, _file, policies, says) => {
    const dir = testsWith(RESULT('good', 'pass'), '', {
      'tests/kyverno-test.yaml': TEST(RESULT('good', 'pass')).replace('policies: [../policy.yaml]\n', policies),
    })
    symlinkSync('/etc/passwd', join(dir, 'tests/link.yaml'))
    const { code, stderr, stdout } = await run(dir, 'policy', 'test')
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)])
    expect(stdout).toContain('not read')
    expect(`${stdout}${stderr}`).not.toContain('root:')
  })

  test.each([
    ['text', 'all\n'],
    ['results that are a map', 'kind: Test\nresults: {a: b}\n'],
    ['a result without a policy', 'kind: Test\nresults: [{result: pass}]\n'],
    ['an unknown result', 'kind: Test\nresults: [{policy: a, result: "\u202epass"}]\n'],
    ['broken YAML', 'kind: [\n'],
    ['policies that are numbers', 'kind: Test\npolicies: [1]\n'],
  ])('hostile: %s is an error of that file, and others are run', async (_what, text) => {
    const dir = testsWith(RESULT('good', 'pass'), '', { 'other/kyverno-test.yaml': text })
    const { code, stderr, stdout } = await run(dir, 'policy', 'test')
    expect(code).toBe(2)
    expect(stderr).toMatch(/^error\[(?:config|yaml-syntax)\]: [^\n]+other\/kyverno-test\.yaml:\d+[^\n]*\n$/)
    expect(stdout).toContain('tests/kyverno-test.yaml (names): 1 ok')
  })
})

test('bad usage', async () => {
  const dir = scratch()
  write(dir, { 'README.md': 'nothing\n' })
  for (const args of [[], ['try'], ['test', 'a', 'b'], ['test', '.', '-o', 'sarif'], ['test', '.']]) {
    const { code, stderr } = await run(dir, 'policy', ...args)
    expect([code, stderr]).toEqual([2, expect.stringMatching(/ Run bailiwick help policy\.\n$/)])
  }
})
