import { afterAll, beforeAll, expect, test } from 'vitest'
import { openApp } from '../../../src/github/client/app.ts'
import { LOOPBACK_PACE } from '../../../src/github/client/client-class.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { deploymentFile } from '../story/tenant-changes.ts'
import { command, giveRoles, lastRun, nextSecond, proposeViolation } from './commands.ts'

const REPO = 'acme/dev-team'
const BRANCH = 'leaves'
const STRAY = deploymentFile('stray', 'kube-system')

let stage: Stage
let pull: number
beforeAll(async () => {
  stage = await startStage()
  giveRoles(stage.github, REPO, { rita: 'triage', will: 'write', lena: 'read', mina: 'admin' })
  giveRoles(stage.github, 'acme/fleet', { max: 'maintain', will: 'write', lena: 'read' })
  await stage.settle()
  pull = await proposeViolation(stage, BRANCH)
  await nextSecond()
})
afterAll(() => stage?.close())

const say = (as: string, body: string) => command(stage, { repo: REPO, issue: pull, as, body })
const verdict = () => lastRun(stage.github, REPO, BRANCH)
const record = () => lastRun(stage.github, REPO, BRANCH, 'bailiwick / override')
const head = () => stage.github.commitOf(REPO, BRANCH)

/** The same change once more, as another commit. */
function push(as = 'dora'): void {
  stage.github.push({ repo: REPO, branch: BRANCH, message: 'again', as })
}

test('nobody overrides who does not decide for the fleet, whatever they may here', async () => {
  expect(verdict()).toMatchObject({ conclusion: 'failure' })
  const why = expect.stringContaining('you are not a fleet admin')
  for (const as of ['mallory', 'lena', 'rita', 'will', 'dora', 'mina']) {
    const replies = as === 'mallory' || as === 'lena' ? [] : [why]
    expect([as, await say(as, '/bailiwick override because I say so')]).toEqual([as, { reactions: ['-1'], replies }])
  }
  expect(record()).toBeUndefined()
})

test('a reason is needed', async () => {
  for (const body of ['/bailiwick override', `/bailiwick override ${head()}`, '/bailiwick override 12 !']) {
    const { reactions, replies } = await say('ada', body)
    expect([body, reactions]).toEqual([body, ['eyes', 'confused']])
    expect(replies[0]).toContain('a reason is needed')
  }
})

test('another head than the one that was named is not overridden', async () => {
  const { reactions, replies } = await say('ada', '/bailiwick override abc1234 the gate is broken')
  expect(reactions).toEqual(['eyes', 'confused'])
  expect(replies[0]).toContain(`/bailiwick override ${head().slice(0, 12)} the gate is broken`)
  expect(verdict()).toMatchObject({ conclusion: 'failure' })
})

test('a fleet admin lets the present head pass, and who did it and why stands on the check', async () => {
  expect(
    await say('max', '/bailiwick override the gate is broken, see [docs](https://evil.example) @acme/all'),
  ).toEqual({
    reactions: ['eyes', 'rocket'],
    replies: [],
  })
  expect(record()).toMatchObject({ conclusion: 'success', status: 'completed', headSha: head() })
  expect(record()?.output.summary).toContain('`[docs](https://evil.example) @acme/all`')
  expect(verdict()).toMatchObject({ conclusion: 'success' })
  expect(verdict()?.output.title).toMatch(/^Overridden by max/)
  expect(verdict()?.output.summary).toContain('namespace-confinement')
})

test('the same commit into another branch is another question', async () => {
  const { github } = stage
  github.push({ repo: REPO, branch: 'next', parent: github.commitOf(REPO, 'main'), as: 'dora' })
  github.editPullRequest({ repo: REPO, pull, base: 'next', as: 'dora' })
  await stage.settle()
  expect(verdict(), 'nobody follows it').toBeUndefined()
  github.editPullRequest({ repo: REPO, pull, base: 'main', as: 'dora' })
  await stage.settle()
  expect(verdict()?.output.title).toMatch(/^Overridden by max/)
})

test('the next push is judged as any other', async () => {
  push()
  await stage.settle()
  expect(record()).toBeUndefined()
  expect(verdict()).toMatchObject({ conclusion: 'failure' })
})

test('a head that came after the comment is not the one that was looked at', async () => {
  const { github } = stage
  await nextSecond() // later than the change of the base above, in GitHub's whole seconds
  const written = github.comment({ repo: REPO, issue: pull, as: 'ada', body: '/bailiwick override looks fine to me' })
  push()
  await stage.settle()
  const reply = github.commentsOf(REPO, pull).findLast(({ body }) => body.includes(`reply:${written.id}`))
  expect(reply?.body).toContain(`/bailiwick override ${head().slice(0, 12)} looks fine to me`)
  expect(verdict()).toMatchObject({ conclusion: 'failure' })
  expect((await say('ada', `/bailiwick override ${head().slice(0, 12)} looks fine to me`)).reactions).toContain(
    'rocket',
  )
  expect(verdict()).toMatchObject({ conclusion: 'success' })
})

test('nor is one that was judged long before, on another branch', async () => {
  const { github } = stage
  const mine = head()
  github.push({ repo: REPO, branch: 'elsewhere', parent: mine, files: { 'evil.md': 'x' }, as: 'dora' })
  github.openPullRequest({ repo: REPO, head: 'elsewhere', as: 'dora' })
  await stage.settle()
  await nextSecond()
  const evil = github.commitOf(REPO, 'elsewhere')
  const written = github.comment({ repo: REPO, issue: pull, as: 'ada', body: '/bailiwick override looks fine to me' })
  github.pushRef({ repo: REPO, branch: BRANCH, sha: evil, as: 'dora' })
  await stage.settle()
  const reply = github.commentsOf(REPO, pull).findLast(({ body }) => body.includes(`reply:${written.id}`))
  expect(reply?.body).toContain(`/bailiwick override ${evil.slice(0, 12)}`)
  expect(verdict()).toMatchObject({ conclusion: 'failure' })
})

test('who is listed as approver in the base of the fleet decides too, and nobody for their own pull request', async () => {
  const { github } = stage
  push()
  await stage.settle()
  const file = 'approvers: [will, "@Dora"]\n'
  github.push({ repo: 'acme/fleet', files: { '.github/bailiwick.yaml': file }, as: 'ada' })
  await stage.settle()
  await nextSecond()
  const own = await say('dora', `/bailiwick override ${head().slice(0, 10)} I know better`)
  expect(own.replies[0]).toContain(
    'a fleet admin cannot override the check of a pull request that they opened or pushed to',
  )
  expect(verdict()).toMatchObject({ conclusion: 'failure' })
  expect((await say('will', `/bailiwick override ${head().slice(0, 10)} agreed in the call`)).reactions).toContain(
    'rocket',
  )
  expect(verdict()?.output.title).toMatch(/^Overridden by will/)
})

test('whoever pushed to it is refused, too, also where somebody else opened it and pushed last', async () => {
  giveRoles(stage.github, REPO, { max: 'write' })
  push('max')
  push('dora')
  await stage.settle()
  await nextSecond()
  const own = await say('max', `/bailiwick override ${head().slice(0, 12)} it is fine`)
  expect(own.reactions).toContain('confused')
  expect(own.replies[0]).toContain('that they opened or pushed to')
  expect(verdict()).toMatchObject({ conclusion: 'failure' })
  const other = await say('ada', `/bailiwick override ${head().slice(0, 12)} looked at by me`)
  expect(other.reactions).toContain('rocket')
  expect(verdict()).toMatchObject({ conclusion: 'success' })
})

test("on a fork's branch, of which nobody sees who pushed, a second fleet admin confirms", async () => {
  const { github } = stage
  github.addRepository({ owner: 'finn', name: 'dev-team', forkOf: REPO, roles: { finn: 'admin', max: 'write' } })
  const files = { 'staging/kustomization.yaml': 'resources: [stray.yaml]\n', 'staging/stray.yaml': STRAY }
  github.push({ repo: 'finn/dev-team', branch: 'away', parent: github.commitOf(REPO, 'main'), files, as: 'max' })
  const issue = github.openPullRequest({ repo: REPO, headRepo: 'finn/dev-team', head: 'away', as: 'finn' }).issue.number
  await stage.settle()
  const sha = github.commitOf('finn/dev-team', 'away')
  const run = (name?: string) => lastRun(github, REPO, sha, name)
  const ask = (as: string, why: string) =>
    command(stage, { repo: REPO, issue, as, body: `/bailiwick override ${sha.slice(0, 12)} ${why}` })
  const first = await ask('max', 'an emergency')
  expect(first.replies[0]).toContain('a second fleet admin must confirm')
  expect(run('bailiwick / override')).toMatchObject({ conclusion: 'action_required' })
  await ask('max', 'once more')
  expect(run(), 'the same admin twice is one').toMatchObject({ conclusion: 'failure' })
  expect((await ask('ada', 'seen')).reactions).toContain('rocket')
  expect(run()).toMatchObject({ conclusion: 'success' })
  expect(run()!.output.title).toContain('max, confirmed by ada')
})

test('a run of the same name by another App, or what a comment claims, is no override', async () => {
  const { github } = stage
  push()
  await stage.settle()
  const other = github.addApp({ permissions: { checks: 'write', metadata: 'read' } })
  const installation = github.install(other, 'acme', 'all', 'ada')
  const { id: appId, privateKey } = other
  const octokit = await openApp({ appId, privateKey, baseUrl: github.url, pace: LOOPBACK_PACE }).client(installation.id)
  await octokit.rest.checks.create({
    ...{ owner: 'acme', repo: 'dev-team', name: 'bailiwick / override', head_sha: head() },
    ...{ status: 'completed', conclusion: 'success' },
    output: { title: 'x', summary: 'x', text: '```json\n{"by":"ada","reason":"x","at":"2026-01-01T00:00:00Z"}\n```' },
  })
  await say('dora', '/bailiwick check')
  expect(verdict()).toMatchObject({ conclusion: 'failure' })
})

test('every request was one that GitHub describes', () => {
  expect(stage.github.violations).toEqual([])
  expect(stage.github.responseViolations).toEqual([])
})
