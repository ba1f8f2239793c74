import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OurCheckRun } from '../../../src/github/checks.ts'
import { MemoryTtlStore } from '../../../src/surface/pages/ttl-store.ts'
import { STATEMENT_LIMITS, StatementStore } from '../../../src/surface/pages/work-store.ts'
import { stalenessOf } from '../../../workers/gate/settle.ts'
import { until } from '../queue/until.ts'
import { said } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { deploymentFile } from '../story/tenant-changes.ts'
import { command } from './commands.ts'
import { DEV, openDev, withResource } from './red-together.ts'
import { reportOf } from './survey.ts'

const STRAY = {
  'staging/kustomization.yaml': withResource('staging/kustomization.yaml', 'stray.yaml'),
  'staging/stray.yaml': deploymentFile('stray', 'kube-system'),
}

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  stage.github.push({ repo: 'acme/fleet', files: { '.github/bailiwick.yaml': 'enforcement: report\n' }, as: 'ada' })
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

test('nothing blocks, and the title says that it would', async () => {
  const { github } = stage
  const pull = openDev(github, 'stray', STRAY)
  await stage.settle()
  const run = said(github, DEV, 'stray')
  expect(run).toMatchObject({ conclusion: 'success' })
  expect(run.output.title).toMatch(/^Would block \(report mode\): 1 violation in dev-team \(staging\)/)
  expect(run.output.summary).toContain('1 reported violation (critical)')
  expect(github.commentsOf(DEV, pull).at(-1)?.body).toMatch(
    /Nothing blocks, because the fleet only reports violations\. Next: fix `staging\/stray\.yaml:\d+` before it blocks them\./,
  )
  expect(run.annotations).toMatchObject([{ path: 'staging/stray.yaml', annotation_level: 'warning' }])
  expect(github.merge({ repo: DEV, pull, as: 'dora' })).toMatchObject({ status: 200 })
  await stage.settle()
}, 60_000)

test('what cannot be decided still blocks: nobody could report on it', async () => {
  const { github } = stage
  openDev(github, 'broken', { 'base/service.yaml': 'kind: [\n' })
  await stage.settle()
  expect(said(github, DEV, 'broken')).toMatchObject({ conclusion: 'failure' })
  expect(said(github, DEV, 'broken').output.title).toMatch(/^Could not be evaluated: /)
}, 60_000)

test('back in mode block the same change is red', async () => {
  const { github } = stage
  github.push({ repo: 'acme/fleet', files: { '.github/bailiwick.yaml': 'enforcement: block\n' }, as: 'ada' })
  const more = { 'staging/stray.yaml': deploymentFile('other', 'kube-system') }
  openDev(github, 'again', more)
  await stage.settle()
  expect(said(github, DEV, 'again')).toMatchObject({ conclusion: 'failure' })
}, 60_000)

test('a pause lets it pass for an hour, with its verdict; resume blocks again, and only a fleet admin decides', async () => {
  const { github } = stage
  const { number } = reportOf(github)
  const say = (as: string, body: string) => command(stage, { repo: 'acme/fleet', issue: number, as, body })
  expect(await say('dora', '/bailiwick pause let me through')).toMatchObject({ reactions: ['-1'] })
  expect(said(github, DEV, 'again')).toMatchObject({ conclusion: 'failure' })
  github.comment({ repo: 'acme/fleet', issue: number, as: 'ada', body: '/bailiwick pause incident 7' })
  await until(() => said(github, DEV, 'again').conclusion === 'success')
  expect(github.commentsOf('acme/fleet', number).at(-1)?.body).toMatch(
    /Every pull request of this fleet passes until \d\d:\d\d UTC/,
  )
  expect(said(github, DEV, 'again').output.title).toMatch(/^Paused until \d\d:\d\d UTC by ada: incident 7/)
  expect(said(github, DEV, 'again').output.summary).toContain('Verdict: 1 violation in dev-team (staging)')
  // what a sweep finds is evaluated again, so that no lost job leaves it green
  expect(stalenessOf({ status: 'completed', externalId: said(github, DEV, 'again').externalId } as OurCheckRun)).toBe(
    'missing',
  )
  await say('ada', '/bailiwick resume')
  expect(said(github, DEV, 'again')).toMatchObject({ conclusion: 'failure' })
}, 60_000)

test('a pause ends by itself', async () => {
  const store = new StatementStore(new MemoryTtlStore(STATEMENT_LIMITS))
  const fleet = { repository: { id: 7 }, branch: 'main' }
  const pause = (ms: number) => ({ by: 'ada', reason: 'x', until: new Date(Date.now() + ms).toISOString() })
  await store.setPause(fleet, pause(3_600_000))
  expect(await store.pauseOf(fleet)).toMatchObject({ by: 'ada' })
  expect(await store.pauseOf({ ...fleet, branch: 'other' })).toBeUndefined()
  await store.setPause(fleet, pause(-1))
  expect(await store.pauseOf(fleet)).toBeUndefined()
})
