import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Role } from '../../../tools/github/world.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { command, giveRoles, lastRun, nextSecond, proposeNothing, proposeViolation } from './commands.ts'

const REPO = 'acme/dev-team'
const FLEET = 'acme/fleet'
const ROLES: readonly Role[] = ['none', 'read', 'triage', 'write', 'maintain', 'admin']
let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  await stage.settle()
})
afterAll(() => stage?.close())

const say = (as: string, body: string, issue: number, repo = REPO) => command(stage, { repo, issue, as, body })
const labels = (pull: number) => stage.github.pullRequestsOf(REPO).find(one => one.issue.number === pull)?.issue.labels
const installation = () => [...stage.github.world.installations.values()][0]!.id

/** Has a comment answered as if it had just come, whatever the webhook thought of it. */
async function answer(comment: number, issue: number): Promise<readonly string[]> {
  await stage.site.queue.add('command', {
    installation: installation(),
    owner: 'acme',
    repo: 'dev-team',
    issue,
    comment,
  })
  await stage.settle()
  const found = stage.github.commentsOf(REPO, issue).find(({ id }) => id === comment)
  return found?.reactions.map(({ content }) => content) ?? []
}

describe('who may ask for what', () => {
  const HIDDEN = 'acme/hidden'
  let pull: number
  beforeAll(async () => {
    const { github } = stage
    const roles = Object.fromEntries(ROLES.map(role => [`role-${role}`, role]))
    github.addRepository({ owner: 'acme', name: 'hidden', files: { x: 'x' }, private: true, roles })
    github.push({ repo: HIDDEN, branch: 'y', parent: github.commitOf(HIDDEN, 'main'), files: { y: 'y' }, as: 'ada' })
    pull = github.openPullRequest({ repo: HIDDEN, head: 'y', as: 'ada' }).issue.number
    await stage.settle()
  })

  test.each<[string, Role | undefined]>([
    ['help', 'triage'],
    ['status', 'triage'],
    ['explain sa-required', 'triage'],
    ['diff', 'triage'],
    ['check', 'write'],
    ['hold', 'write'],
    ['unhold', 'write'],
    ['waive sa-required why not', 'write'],
    ['onboard x', 'maintain'],
    ['approve', undefined],
    ['approve-waiver', undefined],
    ['approve-source', undefined],
    ['override why not', undefined],
    ['pause why not', undefined],
    ['resume', undefined],
    ['offboard x', undefined],
  ])('%s needs %s of the repository', async (text, least) => {
    const from = least === undefined ? ROLES.length : ROLES.indexOf(least)
    for (const [index, role] of ROLES.entries()) {
      const { reactions, replies } = await say(`role-${role}`, `/bailiwick ${text}`, pull, HIDDEN)
      const isDenied = reactions.length === 1 && reactions[0] === '-1'
      expect([text, role, isDenied]).toEqual([text, role, index < from])
      // a stranger is not answered: everyone can read a public repository
      if (isDenied) expect(replies).toHaveLength(index < ROLES.indexOf('triage') ? 0 : 1)
    }
  })

  test('help lists exactly that', async () => {
    const listed = async (role: Role) =>
      [
        ...((await say(`role-${role}`, '/bailiwick help', pull, HIDDEN)).replies[0] ?? '').matchAll(
          /^- `\/bailiwick ([a-z-]+)/gm,
        ),
      ].map(([, name]) => name)
    expect(await listed('triage')).toEqual(['help', 'status', 'explain', 'diff'])
    expect(await listed('write')).toEqual(['help', 'status', 'explain', 'diff', 'check', 'hold', 'unhold', 'waive'])
    expect(await listed('maintain')).toContain('onboard')
    expect(await listed('admin')).not.toContain('override')
  })
})

describe('what is no command', () => {
  let pull: number
  beforeAll(async () => {
    giveRoles(stage.github, REPO, { will: 'write', eve: 'triage' })
    pull = await proposeNothing(stage, 'quiet')
  })

  test('one that was edited, by its author or by somebody who may edit it', async () => {
    const { github } = stage
    for (const as of ['dora', 'will']) {
      const { id } = github.comment({ repo: REPO, issue: pull, as: 'dora', body: 'Fine.' })
      await nextSecond()
      github.editComment({ repo: REPO, comment: id, as, body: '/bailiwick hold' })
      await stage.settle()
      expect(await answer(id, pull)).toEqual([])
    }
    expect(labels(pull)).toEqual([])
  })

  test('one of a bot, one written in another App, one of another issue, one that is gone', async () => {
    const { github } = stage
    github.addUser('helper[bot]', 'Bot')
    giveRoles(github, REPO, { 'helper[bot]': 'admin' })
    const bot = github.comment({ repo: REPO, issue: pull, as: 'helper[bot]', body: '/bailiwick hold' })
    const via = github.comment({ repo: REPO, issue: pull, as: 'dora', body: '/bailiwick hold', via: github.addApp({}) })
    await stage.settle()
    expect(await answer(bot.id, pull)).toEqual([])
    expect(await answer(via.id, pull)).toEqual([])
    const other = github.issue({ repo: REPO, title: 'Elsewhere', as: 'dora' }).number
    const elsewhere = github.comment({ repo: REPO, issue: other, as: 'mallory', body: 'Hello' })
    expect(await answer(elsewhere.id, pull)).toEqual([])
    expect(await answer(4711, pull)).toEqual([])
    expect(labels(pull)).toEqual([])
  })

  test('what an event claims of its sender counts for nothing', async () => {
    const { github } = stage
    const { id } = github.comment({ repo: REPO, issue: pull, as: 'mallory', body: 'Hello' })
    await nextSecond()
    const delivery = github.deliveries.findLast(({ event }) => event === 'issue_comment')!
    const forged = structuredClone(delivery.payload) as {
      comment: Record<string, unknown>
      sender: Record<string, unknown>
    }
    Object.assign(forged.comment, { body: '/bailiwick hold', author_association: 'OWNER' })
    Object.assign(forged.sender, { login: 'ada', site_admin: true })
    github.send(github.app, 'issue_comment', forged)
    await stage.settle()
    expect(github.commentsOf(REPO, pull).find(one => one.id === id)?.reactions).toEqual([])
    const asked = github.comment({ repo: REPO, issue: pull, as: 'mallory', body: '/bailiwick hold' })
    await stage.settle()
    expect(await answer(asked.id, pull)).toEqual(['-1'])
    expect(labels(pull)).toEqual([])
  })

  test('rights count as they are when it is answered', async () => {
    const { github } = stage
    giveRoles(github, REPO, { will: 'read' })
    expect(await say('will', '/bailiwick hold', pull)).toEqual({ reactions: ['-1'], replies: [] })
    giveRoles(github, REPO, { will: 'write' })
    expect(await say('will', '/bailiwick hold', pull)).toEqual({ reactions: ['+1'], replies: [] })
    expect(await say('will', '/bailiwick unhold', pull)).toEqual({ reactions: ['+1'], replies: [] })
  })
})

test('the author of a fork may ask for words, and nothing else', async () => {
  const { github } = stage
  github.fork(REPO, 'mallory')
  github.push({
    repo: 'mallory/dev-team',
    branch: 'mine',
    files: { 'mine.md': 'x' },
    parent: github.commitOf(REPO, 'main'),
    as: 'mallory',
  })
  const opened = github.openPullRequest({ repo: REPO, head: 'mine', headRepo: 'mallory/dev-team', as: 'mallory' })
  const { number } = opened.issue
  await stage.settle()
  expect((await say('mallory', '/bailiwick help', number)).replies[0]).toContain('/bailiwick status')
  expect((await say('mallory', '/bailiwick status', number)).reactions).toEqual(['eyes', '+1'])
  for (const body of ['check', 'hold', 'waive sa-required why', 'override why not', 'onboard x', 'dance']) {
    const { reactions, replies } = await say('mallory', `/bailiwick ${body}`, number)
    expect([body, reactions, replies.length]).toEqual([body, ...(body === 'dance' ? [[], 0] : [['-1'], 1])])
  }
  expect((await say('dora', '/bailiwick check', number)).reactions).toEqual(['+1'])
})

test('a team that the fleet lists decides for it, and somebody whom it has only invited does not', async () => {
  const { github } = stage
  github.addTeam('acme', 'Platform', ['lena'], { pending: ['paul'] })
  github.addTeam('other', 'platform', ['olaf'])
  github.push({
    repo: FLEET,
    files: { '.github/bailiwick.yaml': 'approvers: [acme/platform, other/platform]\n' },
    as: 'ada',
  })
  const pull = await proposeViolation(stage, 'team')
  await nextSecond()
  for (const as of ['paul', 'olaf']) {
    github.addUser(as)
    expect([as, (await say(as, '/bailiwick override the gate is broken', pull)).reactions]).toEqual([as, ['-1']])
  }
  expect((await say('lena', '/bailiwick override the gate is broken', pull)).reactions).toEqual(['eyes', 'rocket'])
  expect(lastRun(github, REPO, 'team')).toMatchObject({ conclusion: 'success' })
})

test('every request was one that GitHub describes', () => {
  expect(stage.github.violations).toEqual([])
  expect(stage.github.responseViolations).toEqual([])
})
