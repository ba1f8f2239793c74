import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { DEV_URL, devFiles, FLEET_URL, fleetFiles } from '../../fleet/mini-fleet.ts'
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
    })
  })
})

test('test files of Kyverno are not run: one warning says what does, and a folder of tests alone is not a pass', async () => {
  const { dir, args } = fleetWith(MAP('new', 'data: {level: low}\n'))
  write(dir, { 'fleet/tests/kyverno-test.yaml': 'kind: Test\n', 'tests/a/kyverno-test.yaml': 'kind: Test\n' })
  const warning = expect.stringMatching(/^warning: kyverno-test\.yaml: removed\. [^\n]+`kyverno test`[^\n]+\n$/)
  expect(await run(dir, 'policy', ...args)).toMatchObject({ code: 0, stderr: warning })
  expect(await run(dir, 'policy', 'test', 'tests')).toMatchObject({ code: 2, stdout: '', stderr: warning })
})

test('bad usage', async () => {
  const dir = scratch()
  write(dir, { 'README.md': 'nothing\n' })
  for (const args of [[], ['try'], ['test', 'a', 'b'], ['test', '.', '-o', 'sarif'], ['test', '.']]) {
    const { code, stderr } = await run(dir, 'policy', ...args)
    expect([code, stderr]).toEqual([2, expect.stringMatching(/ Run bailiwick help policy\.\n$/)])
  }
})
