import { afterAll, beforeAll, expect, test } from 'vitest'
import { ENGINE_VERSION } from '../../../src/fleet/model/input.ts'
import { versionOfExternalId } from '../../../src/report/check-run-text.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { lastRun, proposeViolation } from './commands.ts'
import { writes } from './survey.ts'

const DEV = 'acme/dev-team'

let stage: Stage
let pull: number
beforeAll(async () => {
  stage = await startStage()
  await stage.settle()
  pull = await proposeViolation(stage, 'stray')
}, 120_000)
afterAll(() => stage?.close())

const run = () => lastRun(stage.github, DEV, 'stray')!
const installation = () => [...stage.github.world.installations.keys()][0]!
const delayed = async () => (await stage.site.queue.depths()).reduce((sum, one) => sum + one.delayed, 0)

/** As long as jobs run; those that wait for a turn of their own do not count. */
async function quiet(): Promise<void> {
  const busy = async () => (await stage.site.queue.depths()).some(one => one.active + one.waiting > 0)
  while (await busy()) await new Promise(resolve => setTimeout(resolve, 20))
}

test('the verdict of an older version is honoured until its turn, which comes once and takes its place', async () => {
  const { github } = stage
  expect(versionOfExternalId(run().externalId)).toBe(ENGINE_VERSION)
  // what a version before this one left behind
  run().externalId = run().externalId.replace(/^\w+:/, '0:')
  const before = { ...run() }
  github.forget()
  for (let look = 0; look < 3; look++) {
    await stage.site.queue.add('sweep-installation', { installation: installation() })
    await quiet()
  }
  const now = run()
  // in the one minute of the hour that is its own, the turn is at once
  if (versionOfExternalId(now.externalId) === '0') {
    expect(now).toMatchObject({
      id: before.id,
      status: 'completed',
      conclusion: 'failure',
      externalId: before.externalId,
    })
    expect(writes(github)).toEqual([])
    expect(await delayed()).toBe(1)
    expect(github.merge({ repo: DEV, pull, as: 'dora' })).toMatchObject({ status: 405 })
    await stage.site.queue.add('validate-pull-request', {
      installation: installation(),
      owner: 'acme',
      repo: 'dev-team',
      pull,
    })
    await quiet()
  }
  expect(versionOfExternalId(run().externalId)).toBe(ENGINE_VERSION)
  expect(run()).toMatchObject({ status: 'completed', conclusion: 'failure', output: { title: before.output.title } })
  expect(await delayed()).toBe(0)
}, 120_000)

test('what this version said is not said again', async () => {
  stage.github.forget()
  await stage.site.queue.add('sweep-installation', { installation: installation() })
  await quiet()
  expect(writes(stage.github)).toEqual([])
}, 60_000)

test('the check of a branch is that of the older version until the next push to the branch', async () => {
  const { github } = stage
  const branchRun = () => github.checkRunsOf(DEV, 'main').findLast(({ name }) => name === 'bailiwick / branch')!
  expect(versionOfExternalId(branchRun().externalId)).toBe(ENGINE_VERSION)
  branchRun().externalId = branchRun().externalId.replace(/^\w+:/, '0:')
  const before = { ...branchRun() }
  github.forget()
  for (let look = 0; look < 3; look++) {
    await stage.site.queue.add('sweep-installation', { installation: installation() })
    await quiet()
  }
  expect(branchRun()).toEqual(before)
  expect(await delayed()).toBe(0)
  github.push({ repo: DEV, files: { 'README.md': 'new\n' }, as: 'ada' })
  await stage.settle()
  expect(branchRun()).not.toMatchObject({ id: before.id })
  expect(versionOfExternalId(branchRun().externalId)).toBe(ENGINE_VERSION)
}, 120_000)
