import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Stage, startStage } from '../story/stage.ts'
import { command, giveRoles, lastRun, proposeNothing } from './commands.ts'

const REPO = 'acme/dev-team'
let stage: Stage
let pull: number
beforeAll(async () => {
  stage = await startStage()
  giveRoles(stage.github, REPO, { rita: 'triage', will: 'write' })
  await stage.settle()
  pull = await proposeNothing(stage, 'held')
})
afterAll(() => stage?.close())

const say = (as: string, body: string, issue = pull) => command(stage, { repo: REPO, issue, as, body })
const labels = () => stage.github.pullRequestsOf(REPO).find(one => one.issue.number === pull)?.issue.labels

test('who may not write gets a reaction, and the reason where they take part in the repository', async () => {
  for (const body of ['/bailiwick hold', '/bailiwick unhold', '/bailiwick check']) {
    expect([body, await say('mallory', body)]).toEqual([body, { reactions: ['-1'], replies: [] }])
    const { reactions, replies } = await say('rita', body)
    expect([body, reactions]).toEqual([body, ['-1']])
    expect(replies).toHaveLength(1)
    expect(replies[0]).toContain('it needs write access to this repository')
    expect(replies[0]).toContain(`Ask someone with that role to run \`${body}\`.`)
  }
  expect(labels()).toEqual([])
})

test('hold puts the label on, and the check fails; unhold takes it off again', async () => {
  expect(await say('will', '/bailiwick hold')).toEqual({ reactions: ['+1'], replies: [] })
  expect(labels()).toEqual(['bailiwick/hold'])
  expect(lastRun(stage.github, REPO, 'held')).toMatchObject({ conclusion: 'failure' })
  expect(lastRun(stage.github, REPO, 'held')?.output.title).toContain('will')
  expect(stage.github.merge({ repo: REPO, pull, as: 'dora' })).toMatchObject({ status: 405 })
  expect(await say('dora', '/bailiwick unhold')).toEqual({ reactions: ['+1'], replies: [] })
  expect(labels()).toEqual([])
  expect(lastRun(stage.github, REPO, 'held')).toMatchObject({ conclusion: 'success' })
  expect(await say('dora', '/bailiwick unhold'), 'twice is once').toEqual({ reactions: ['+1'], replies: [] })
})

test('check judges again', async () => {
  expect(await say('will', '/bailiwick check')).toEqual({ reactions: ['+1'], replies: [] })
  expect((await say('will', '/bailiwick check --all')).replies[0]).toContain('requires the role maintain')
  expect(await say('dora', '/bailiwick check --all')).toEqual({ reactions: ['+1'], replies: [] })
  expect((await say('dora', '/bailiwick check everything')).reactions).toEqual(['confused'])
})

test('whoever asks for the run again gets the same verdict, and nothing is flipped', async () => {
  const { github } = stage
  const before = lastRun(github, REPO, 'held')!
  github.rerun({ repo: REPO, run: before, as: 'will' })
  await stage.settle()
  const after = lastRun(github, REPO, 'held')!
  const untimed = (run: typeof after) => ({
    ...run.output,
    summary: run.output.summary?.replace(/\n\nEvaluated again .*$/, ''),
  })
  expect([after.status, after.conclusion, untimed(after)]).toEqual(['completed', before.conclusion, untimed(before)])
})

test('help says what the one who asks may do, and words that we do not know are explained to who may write', async () => {
  const [ofRita] = (await say('rita', '/bailiwick help')).replies
  expect(ofRita).toContain('`/bailiwick help`')
  expect(ofRita).not.toContain('/bailiwick hold')
  const [ofDora] = (await say('dora', '/bailiwick help')).replies
  expect(ofDora).toContain('`/bailiwick hold`')
  expect(await say('mallory', '/bailiwick help')).toEqual({ reactions: ['-1'], replies: [] })
  expect(await say('mallory', '/bailiwick dance')).toEqual({ reactions: [], replies: [] })
  const odd = await say('will', '/bailiwick <b>@acme/platform</b>')
  expect(odd).toMatchObject({ reactions: ['confused'], replies: [expect.stringContaining('Unknown command')] })
  expect(odd.replies[0]).toContain('`<b>@acme/platform</b>`')
})

test('quoted, later, edited, closed: no command', async () => {
  for (const body of ['> /bailiwick hold', 'please\n/bailiwick hold', ' /bailiwick hold', '/Bailiwick hold']) {
    expect(await say('dora', body)).toEqual({ reactions: [], replies: [] })
  }
  const issue = stage.github.issue({ repo: REPO, title: 'No pull request', as: 'dora' }).number
  expect((await say('dora', '/bailiwick hold', issue)).replies[0]).toContain('on pull requests only')
  stage.github.closePullRequest({ repo: REPO, pull, as: 'dora' })
  await stage.settle()
  expect(await say('dora', '/bailiwick hold')).toEqual({ reactions: [], replies: [] })
  expect(labels()).toEqual([])
})

test('every request was one that GitHub describes', () => {
  expect(stage.github.violations).toEqual([])
  expect(stage.github.unknown).toEqual([])
  expect(stage.github.responseViolations).toEqual([])
})
