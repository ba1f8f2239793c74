import { expect, test } from 'vitest'
import { type AppliedNode, applyReport } from '../../src/report/apply-report.ts'

const HERE = 'https://github.com/acme/dev-team'
const web = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'apps', name: 'web' }
const node = (more: Partial<AppliedNode>): AppliedNode => ({
  key: 'staging/apps/dev-team',
  user: 'system:serviceaccount:apps:dev-team',
  outcome: 'applied',
  objects: [],
  ...more,
})
const refused = (repository: string, file = 'base/web.yaml') =>
  node({
    objects: [
      {
        object: web,
        action: 'refused',
        message: 'Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1',
        place: { repository, file, line: 12 },
      },
    ],
  })

test('a refused object is annotated at the line that writes it, in the words of the API server', () => {
  const { annotations, summary } = applyReport('staging', [refused(HERE)], HERE)
  expect(annotations).toEqual([
    {
      path: 'base/web.yaml',
      line: 12,
      level: 'failure',
      title: 'Deployment apps/web refused (staging/apps/dev-team)',
      message: 'Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1',
    },
  ])
  expect(summary).toContain('- refused `Deployment apps/web` at `base/web.yaml:12`: ')
})

test('a node that failed as a whole is annotated at its Kustomization', () => {
  const place = { repository: HERE, file: 'apps.yaml', line: 3 }
  const { annotations, summary } = applyReport('staging', [node({ outcome: 'failed', reason: 'away', place })], HERE)
  expect(annotations).toMatchObject([{ path: 'apps.yaml', line: 3, message: 'away' }])
  expect(summary).toContain('### `staging/apps/dev-team` at `apps.yaml:3` failed: away')
})

test('a line of another repository, and a name that no API takes, are not told', () => {
  for (const one of [refused('https://github.com/acme/fleet', 'secret-plan.yaml'), refused(HERE, 'a\u0000b.yaml')]) {
    const { annotations, summary } = applyReport('staging', [one], HERE)
    expect(annotations).toEqual([])
    expect(summary).toContain('- refused `Deployment apps/web`: ')
    expect(summary).not.toContain('.yaml')
  }
})

test('values of a Secret and what looks like a credential do not reach an annotation', () => {
  const object = { apiVersion: 'v1', kind: 'Secret', namespace: 'apps', name: 'token' }
  const place = { repository: HERE, file: 'secret.yaml', line: 1 }
  const message = 'Secret "token" is invalid: data: Invalid value: "aHVudGVyMg=="'
  const { annotations } = applyReport(
    'staging',
    [node({ objects: [{ object, action: 'refused', message, place }] })],
    HERE,
  )
  expect(annotations[0]!.message).toContain('***')
  expect(JSON.stringify(annotations)).not.toContain('aHVudGVyMg')
})

test('a refused field is shown at its own line, and one of another repository is not', () => {
  const theirs = { repository: 'https://github.com/acme/fleet', file: 'plan.yaml', line: 2 }
  const [one] = refused(HERE).objects
  const fields = [
    { field: 'spec.replicas', place: theirs },
    { field: 'spec.paused' },
    { field: 'metadata.labels[`\n# x](//evil.example)]', place: { repository: HERE, file: 'patch.yaml', line: 7 } },
  ]
  const { annotations, summary } = applyReport('staging', [node({ objects: [{ ...one!, fields }] })], HERE)
  expect(annotations).toMatchObject([{ path: 'patch.yaml', line: 7 }])
  expect(summary).toContain('- refused `Deployment apps/web` at `base/web.yaml:12`: ')
  expect(summary).toMatch(/\n {2}- ``metadata\.labels\[`.*evil\.example\)\]`` at `patch\.yaml:7`/)
  expect(summary).not.toMatch(/plan\.yaml|^# x/m)
})

test('a Kustomization with a refused object is not called applied', () => {
  const [one] = refused(HERE).objects
  const two = { object: { ...web, name: 'db' }, action: 'created' as const }
  const heading = (objects: AppliedNode['objects']) =>
    applyReport('staging', [node({ objects })], HERE).summary.match(/^### .*$/m)?.[0]
  expect(heading([one!])).toBe('### `staging/apps/dev-team` refused')
  expect(heading([one!, { ...two, action: 'withheld' }])).toBe('### `staging/apps/dev-team` refused')
  expect(heading([one!, two])).toBe('### `staging/apps/dev-team` applied in part')
  expect(heading([two])).toBe('### `staging/apps/dev-team` applied')
})

test('the title says what is applied and not ready yet', () => {
  const title = (reason?: string) => applyReport('staging', [node(reason ? { reason } : {})], HERE).title
  expect(title('its health checks still run')).toBe('1 Kustomization not ready yet')
  expect(title()).toBe('Nothing to do: the cluster is as it was approved')
})
