import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Stage, startStage } from '../story/stage.ts'
import { command, giveRoles, lastRun, proposeNothing } from './commands.ts'

const REPO = 'acme/dev-team'
const LABEL = 'bailiwick/hold'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  giveRoles(stage.github, REPO, { rita: 'triage', will: 'write' })
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

const check = (head: string) => lastRun(stage.github, REPO, head)

async function label(issue: number, as: string, on = true): Promise<void> {
  const { github } = stage
  if (on) github.label({ repo: REPO, issue, as, label: LABEL })
  else github.unlabel({ repo: REPO, issue, as, label: LABEL })
  await stage.settle()
}

test('the label alone blocks, while GitHub does not say who put it on', async () => {
  const { github } = stage
  const pull = await proposeNothing(stage, 'silent')
  expect(check('silent')).toMatchObject({ conclusion: 'success' })
  let during: (string | null | undefined)[] = []
  github.failNext(1_000, 500, {}, ({ path }) => {
    if (!path.endsWith(`/issues/${pull}/events`)) return false
    during = [...during, check('silent')?.conclusion]
    return true
  })
  await label(pull, 'will')
  expect(during.length).toBeGreaterThan(0)
  expect(during, 'what was green blocks before anything is asked').not.toContain('success')
  expect(check('silent')).toMatchObject({ status: 'completed', conclusion: 'failure' })
  expect(check('silent')!.output.title).toBe(`On hold by the label ${LABEL}`)
  expect(github.merge({ repo: REPO, pull, as: 'dora' })).toMatchObject({ status: 405 })
}, 60_000)

test('who may not write takes the label off, and the hold stays until somebody who may lifts it', async () => {
  const { github } = stage
  const pull = await proposeNothing(stage, 'triaged')
  await label(pull, 'will')
  await label(pull, 'rita', false)
  expect(github.pullRequestsOf(REPO).find(one => one.issue.number === pull)?.issue.labels).toEqual([])
  expect(check('triaged')).toMatchObject({ conclusion: 'failure' })
  expect(check('triaged')!.output.summary).toContain('`rita` removed the label without write access')
  github.push({ repo: REPO, branch: 'triaged', files: { 'more.md': 'more\n' }, as: 'dora' })
  await stage.settle()
  expect(check('triaged'), 'the next head is held, too').toMatchObject({ conclusion: 'failure' })
  expect(await command(stage, { repo: REPO, issue: pull, as: 'dora', body: '/bailiwick unhold' })).toMatchObject({
    reactions: ['+1'],
  })
  expect(check('triaged')).toMatchObject({ conclusion: 'success' })
  expect(github.merge({ repo: REPO, pull, as: 'dora' })).toMatchObject({ status: 200 })
}, 60_000)

test('who may write takes the label off, and the verdict decides again', async () => {
  const pull = await proposeNothing(stage, 'lifted')
  await label(pull, 'rita')
  expect(check('lifted')).toMatchObject({ conclusion: 'failure' })
  await label(pull, 'will', false)
  expect(check('lifted')).toMatchObject({ conclusion: 'success' })
}, 60_000)

test('every request was one that GitHub describes', () => {
  expect(stage.github.violations).toEqual([])
  expect(stage.github.unknown).toEqual([])
  expect(stage.github.responseViolations).toEqual([])
})
