import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Stage, startStage } from '../story/stage.ts'
import { command, giveRoles, nextSecond, proposeNothing, proposeViolation } from './commands.ts'

const TEAM = 'acme/dev-team'
let stage: Stage
let pull: number
beforeAll(async () => {
  stage = await startStage()
  giveRoles(stage.github, TEAM, { rita: 'triage', olga: 'read' })
  await stage.settle()
  pull = await proposeViolation(stage, 'leaves')
})
afterAll(() => stage?.close())

const say = (as: string, body: string, issue = pull, repo = TEAM) => command(stage, { repo, issue, as, body })
const words = async (as: string, body: string, issue = pull) => {
  const { reactions, replies } = await say(as, body, issue)
  expect([body, reactions]).toEqual([body, ['eyes', '+1']])
  expect(replies).toHaveLength(1)
  return replies[0]!
}

test('status: verdict, clusters, findings, and what people decided', async () => {
  const text = await words('rita', '/bailiwick status')
  expect(text).toContain('**1 violation')
  expect(text).toContain('| `dev-team` | ✅ | ❌ 1 |')
  expect(text).toMatch(/- `[0-9a-f]{12}` `namespace-confinement`: `Deployment kube-system\/leaves` on `staging`/)
  expect(text).toContain(`Head: \`${stage.github.commitOf(TEAM, 'leaves').slice(0, 12)}\`, onto \`main\``)
  expect(text).toContain('- Check: `failure`, ')
  await say('dora', '/bailiwick hold')
  await nextSecond()
  await say('ada', '/bailiwick override the gate has a bad day')
  const decided = await words('dora', '/bailiwick status')
  expect(decided).toContain('- On hold by `dora`')
  expect(decided).toContain('- Overridden by `ada`, for this commit only: the gate has a bad day.')
  await say('dora', '/bailiwick unhold')
})

test('explain a rule, and a finding by the beginning of its fingerprint', async () => {
  const rule = await words('rita', '/bailiwick explain namespace-confinement')
  for (const word of [
    '### `namespace-confinement`',
    '**What to do:**',
    '**Here** (1 finding)',
    'staging/report.yaml',
  ]) {
    expect(rule).toContain(word)
  }
  const id = /Finding: `([0-9a-f]{12})`/.exec(rule)?.[1] ?? ''
  expect(await words('rita', '/bailiwick status')).toContain(`- \`${id}\` \`namespace-confinement\``)
  expect(await words('rita', `/bailiwick explain ${id.slice(0, 6)}`)).toContain(`Finding: \`${id}\` (new)`)
  expect(await words('rita', '/bailiwick explain sa-required')).toContain(
    'This pull request has no finding of this rule.',
  )
  for (const [body, why] of [
    ['/bailiwick explain', 'is missing'],
    ['/bailiwick explain 000000', 'no finding here starts with'],
    ['/bailiwick explain <img>', 'unknown rule'],
  ] as const) {
    const { reactions, replies } = await say('rita', body)
    expect([body, reactions]).toEqual([body, ['eyes', 'confused']])
    expect(replies[0]).toContain(why)
  }
})

test('on an issue the text of a rule alone; on a clean pull request nothing to list', async () => {
  const issue = stage.github.issue({ repo: TEAM, title: 'A question', as: 'olga' }).number
  expect(await words('olga', '/bailiwick explain pod-security', issue)).toContain('### `pod-security`')
  const clean = await proposeNothing(stage, 'clean')
  expect(await words('rita', '/bailiwick status', clean)).toContain('Head: ')
  expect(await words('rita', '/bailiwick diff', clean)).toMatch(/No rendered changes|The rendered changes are unknown/)
})

test('diff shows what the clusters get, of one of them where it is named', async () => {
  const text = await words('rita', '/bailiwick diff')
  expect(text).toContain('Rendered changes: ')
  expect(text).toContain('leaves')
  expect(await words('rita', '/bailiwick diff production')).toContain('No rendered changes on `production`')
  expect((await say('rita', '/bailiwick diff nowhere')).replies[0]).toContain('Clusters: ')
})

test('who only reads, and did not open it, is not answered', async () => {
  for (const body of ['/bailiwick status', '/bailiwick diff', '/bailiwick explain sa-required']) {
    expect(await say('olga', body)).toEqual({ reactions: ['-1'], replies: [] })
    expect(await say('mallory', body)).toEqual({ reactions: ['-1'], replies: [] })
  }
})

test('on a tenant’s repository nothing of others is shown, whatever is asked', async () => {
  for (const body of ['/bailiwick status', '/bailiwick diff', '/bailiwick explain namespace-confinement']) {
    expect(await words('dora', body)).not.toMatch(/ops-team|\bops\b/)
  }
})

test('a command that comes a second time is answered once', async () => {
  const { github } = stage
  const before = github.commentsOf(TEAM, pull).length
  const written = github.comment({ repo: TEAM, issue: pull, as: 'dora', body: '/bailiwick hold' })
  await stage.settle()
  await say('dora', '/bailiwick unhold')
  const { id: installation } = [...github.world.installations.values()][0]!
  const job = { installation, owner: 'acme', repo: 'dev-team', issue: pull, comment: written.id }
  await stage.site.queue.add('command', job)
  await stage.settle()
  expect(github.pullRequestsOf(TEAM).find(one => one.issue.number === pull)?.issue.labels).toEqual([])
  expect(github.commentsOf(TEAM, pull)).toHaveLength(before + 2)
})

test('every request was one that GitHub describes', () => {
  expect(stage.github.violations).toEqual([])
  expect(stage.github.responseViolations).toEqual([])
})
