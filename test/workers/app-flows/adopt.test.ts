import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Stage, startStage } from '../story/stage.ts'
import { command } from './commands.ts'
import { reportOf } from './survey.ts'

const FLEET = 'acme/fleet'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

const ask = (body: string, as = 'ada') =>
  command(stage, { repo: FLEET, issue: reportOf(stage.github).number, as, body: `/bailiwick ${body}` })
const offered = (slug: string) => stage.github.pullRequestsOf(FLEET).findLast(pull => pull.head.ref.includes(slug))

test('a Kustomization that is cluster-admin gets a pull request with an account', async () => {
  const { github } = stage
  expect(await ask('adopt sandbox-limits')).toEqual({ reactions: expect.arrayContaining(['rocket']), replies: [] })
  const pull = offered('adopt-sandbox-limits')!
  expect(pull.issue.title).toBe('Apply sandbox-limits with the least rights')
  expect(pull.issue.body).toContain('are still allowed')
  const text = github.readFile(FLEET, pull.head.ref, 'clusters/staging/infrastructure.yaml')
  expect(text).toContain('serviceAccountName: flux-sandbox-limits')
}, 60_000)

test('what cannot be done is answered in words', async () => {
  expect(await ask('adopt sandbox-limits', 'otto')).toEqual({
    reactions: ['-1'],
    replies: [expect.stringContaining('it needs the role maintain or admin')],
  })
  expect((await ask('adopt')).replies.join()).toContain('TENANT is missing')
  expect((await ask('adopt no-such-name')).replies.join()).toContain('nothing to adopt')
  expect((await ask('lockdown nowhere')).replies.join()).toContain('this fleet has no cluster')
  expect((await ask('lockdown staging')).replies).toEqual([
    expect.stringContaining('All flags are set on this cluster.'),
  ])
}, 60_000)

test('GitHub had nothing to complain about', () => {
  const { github } = stage
  expect([github.violations, github.unknown, github.responseViolations]).toEqual([[], [], []])
})
