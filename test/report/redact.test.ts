import { describe, expect, test } from 'vitest'
import { redact } from '../../src/base/visible.ts'
import { type AppliedNode, applyReport } from '../../src/report/apply-report.ts'

const secret = { apiVersion: 'v1', kind: 'Secret', namespace: 'ops', name: 'token' }

describe('no secret value leaves with a message', () => {
  const cases: readonly [string, string][] = [
    ['Secret "token" is invalid: data[password]: Invalid value: "hunter2"', 'hunter2'],
    ['cannot handle: illegal base64 in c3VwZXJzZWNyZXRzdXBlcnNlY3JldA==', 'c3VwZXJz'],
    ["json: cannot unmarshal 'hunter2' into string", 'hunter2'],
  ]
  for (const [message, value] of cases) {
    test(message, () => {
      const out = redact(message, secret)
      expect(out).not.toContain(value)
      expect(out).toContain('***')
    })
  }

  test('what has the form of a credential is hidden for every kind', () => {
    for (const text of [
      'password=hunter2 refused',
      'get https://user:hunter2@git.example/x',
      'AGE-SECRET-KEY-1HUNTER2HUNTER2',
      '-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----',
      'token: "hunter2"',
      'DB_PASSWORD=hunter2 refused',
      'clientSecret:      hunter2',
      'Authorization: Bearer hunter2',
      'get postgres://user:a@hunter2@db/x',
      '{"auths":{"a":{"auth":"hunter2"}}}',
      'run --db-password hunter2',
      'get https://a.example/x?sig=hunter2',
    ]) {
      expect(redact(text)).not.toMatch(/hunter2/i)
    }
  })

  test('who and what stays', () => {
    const message =
      'secrets "token" is forbidden: User "system:serviceaccount:ops:ops-team" cannot patch resource "secrets" in API group "" in the namespace "ops"'
    expect(redact(message, secret)).toBe(message)
    const plain = 'deployments.apps "web" is forbidden: User "system:serviceaccount:ops:ops-team" cannot patch'
    expect(redact(plain, { ...secret, kind: 'Deployment' })).toBe(plain)
  })
})

describe('check run of an apply', () => {
  const node: AppliedNode = {
    key: 'staging/ops/ops-team',
    user: 'system:serviceaccount:ops:ops-team',
    outcome: 'applied',
    objects: [
      { object: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'ops', name: 'dashboard' }, action: 'created' },
      { object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ops', name: 'old' }, action: 'pruned' },
      { object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ops', name: 'same' }, action: 'unchanged' },
      {
        object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'sandbox', name: 'x' },
        action: 'refused',
        message:
          'configmaps "x" is forbidden: User "system:serviceaccount:ops:ops-team" cannot patch resource "configmaps"',
      },
    ],
  }

  test('says what became of each node', async () => {
    const held: AppliedNode = {
      key: 'staging/apps/dev-team',
      user: 'u',
      outcome: 'held',
      reason: '1 violation of sa-required',
      objects: [],
    }
    const run = applyReport('staging', [held, node], '')
    expect(run).toMatchObject({
      name: 'bailiwick / apply (staging)',
      conclusion: 'failure',
      title: '1 created, 1 pruned, 1 refused, 1 Kustomization held',
    })
    await expect(`${run.summary}\n`).toMatchFileSnapshot('goldens/apply.md')
  })

  test('nothing to do is a success', () => {
    const run = applyReport('staging', [{ ...node, objects: [node.objects[2]!] }], '')
    expect(run).toMatchObject({ conclusion: 'success', title: 'Nothing to do: the cluster is as it was approved' })
  })

  test('a node that failed as a whole is a failure', () => {
    const run = applyReport(
      'staging',
      [{ ...node, outcome: 'failed', reason: 'the API server is away', objects: [] }],
      '',
    )
    expect(run).toMatchObject({ conclusion: 'failure', title: '1 Kustomization failed' })
    expect(run.summary).toContain('the API server is away')
  })
})
