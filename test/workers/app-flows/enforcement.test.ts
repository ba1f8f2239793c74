import { afterAll, beforeAll, expect, test } from 'vitest'
import { FLEET_FILE } from '../../../src/fleet/model/fleet-config.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { command, lastRun, proposeViolation } from './commands.ts'
import { reportOf, surveyAgain } from './survey.ts'

const FLEET = 'acme/fleet'
const DEV = 'acme/dev-team'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

const ask = (body: string, as = 'ada') =>
  command(stage, { repo: FLEET, issue: reportOf(stage.github).number, as, body: `/bailiwick enforcement ${body}` })
const offered = () => stage.github.pullRequestsOf(FLEET).findLast(pull => pull.head.ref.includes('enforcement'))

async function mergeOffered(): Promise<void> {
  const { github } = stage
  const pull = offered()!
  github.review({ repo: FLEET, pull: pull.issue.number, state: 'APPROVED', as: 'ada' })
  await stage.settle()
  expect(github.merge({ repo: FLEET, pull: pull.issue.number, as: 'ada' })).toMatchObject({ status: 200 })
  await stage.settle()
}

test('who does not decide for the fleet cannot switch it, and words that are none are explained', async () => {
  expect(await ask('report', 'otto')).toEqual({
    reactions: ['-1'],
    replies: [expect.stringContaining('you are not a fleet admin')],
  })
  const { replies } = await ask('off')
  expect(replies.join()).toContain('neither report nor block')
  expect(replies.join()).toContain('Write: `/bailiwick enforcement report` or `/bailiwick enforcement block`')
  expect((await ask('block')).replies.join()).toContain('already')
  expect(offered()).toBeUndefined()
}, 60_000)

test('one comment and one merge, and violations are said and block nobody', async () => {
  const { github } = stage
  await proposeViolation(stage, 'first')
  expect(lastRun(github, DEV, 'first')?.conclusion).toBe('failure')
  expect(await ask('report')).toEqual({ reactions: expect.arrayContaining(['rocket']), replies: [] })
  expect(github.readFile(FLEET, offered()!.head.ref, FLEET_FILE)).toBe('enforcement: report\n')
  await mergeOffered()
  await proposeViolation(stage, 'second')
  expect(lastRun(github, DEV, 'second')).toMatchObject({ conclusion: 'success' })
  expect(lastRun(github, DEV, 'second')?.output.title).toContain('report mode')
  expect(lastRun(github, DEV, 'first')?.conclusion).toBe('success')
  await surveyAgain(stage)
  expect(reportOf(github).body).toContain('`/bailiwick enforcement block`')
}, 90_000)

test('and back: what is new blocks again, the rest of the file stays as people wrote it', async () => {
  const { github } = stage
  const text = '# ours\nenforcement: "report" # until June\nprofile: baseline\n'
  github.push({ repo: FLEET, branch: 'main', files: { [FLEET_FILE]: text }, as: 'ada' })
  await stage.settle()
  await ask('block')
  expect(github.readFile(FLEET, offered()!.head.ref, FLEET_FILE)).toBe(
    '# ours\nenforcement: block # until June\nprofile: baseline\n',
  )
  await mergeOffered()
  await proposeViolation(stage, 'third')
  expect(lastRun(github, DEV, 'third')?.conclusion).toBe('failure')
  await ask('report')
  expect(offered()?.issue.state).toBe('open')
}, 90_000)

test('GitHub had nothing to complain about', () => {
  const { github } = stage
  expect([github.violations, github.unknown, github.responseViolations]).toEqual([[], [], []])
})
