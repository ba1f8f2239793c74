import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { OurRepository } from '../../src/github/client/octokit.ts'
import { InProcessQueue } from '../../src/receive/in-process-queue.ts'
import type { Progress } from '../../src/report/check-run-text.ts'
import { CHECK_NAME } from '../../src/verdict/check-names.ts'
import { announceSlow, cancelOvertakenRuns, HeadRuns, publishVerdict } from '../../workers/gate/publish-checks.ts'
import { acme, FLEET } from '../github/adapter/acme.ts'
import { twoViolations, verdict } from '../report/samples.ts'
import { context } from '../report/situations.ts'
import { silentLog } from '../repository/runner/silent-log.ts'

const CHECK = { name: CHECK_NAME, bases: ['main'], followed: ['main'] }
const RENDERING: Progress = { state: 'rendering', rendered: 3, known: 58, total: 61 }

const headRuns = (place: OurRepository, headSha: string) => new HeadRuns(new InProcessQueue(silentLog), place, headSha)

/** A commit, and the announcement of what is said of it after some patience. */
async function announcing(patienceMs: number, everyMs = 10_000) {
  const { github, octokit, identity, asked } = await acme()
  const headSha = github.commitOf('acme/fleet', 'main')
  const place = { ...FLEET, octokit, app: identity }
  const { list: runs } = headRuns(place, headSha)
  asked()
  const announced = announceSlow({ place, headSha, names: [CHECK_NAME], runs, log: silentLog, patienceMs, everyMs })
  const say = async (outcome = verdict()) => {
    const present = (await announced.end()) ?? (await runs())
    await publishVerdict(
      place,
      CHECK,
      { outcome, context: { ...context, headSha } },
      { runs: present, record: undefined },
    )
  }
  return { github, place, headSha, runs, asked, announced, say, shown: () => github.checkRunsOf('acme/fleet', headSha) }
}

test('what is quick is said once, when it is done', async () => {
  const { say, asked, shown } = await announcing(5_000)
  await say()
  expect(asked()).toEqual(['GET /commits/{ref}/check-runs', 'POST /check-runs'])
  expect(shown()).toMatchObject([{ name: CHECK_NAME, status: 'completed', conclusion: 'success' }])
})

test('what takes a while is queued, in progress with counts, and completed: one run, one request that creates', async () => {
  const { announced, say, asked, shown } = await announcing(20, 40)
  await expect.poll(() => shown()).toMatchObject([{ status: 'queued', output: { title: 'Queued' } }])
  announced.report(RENDERING)
  const title = '3 of 61 Kustomizations rendered (58 known)'
  await expect.poll(() => shown()).toMatchObject([{ status: 'in_progress', output: { title } }])
  await sleep(150)
  await say(twoViolations())
  expect(asked()).toEqual([
    'GET /commits/{ref}/check-runs',
    'POST /check-runs',
    'PATCH /check-runs/{check_run_id}',
    'PATCH /check-runs/{check_run_id}',
  ])
  expect(shown()).toMatchObject([{ status: 'completed', conclusion: 'failure', annotations: [{}, {}] }])
})

test('a run that was announced before a crash is taken up, not made twice', async () => {
  const { github, place, headSha, announced, say, shown } = await announcing(20)
  await expect.poll(() => shown()).toHaveLength(1)
  await announced.end()
  const { list: runs } = headRuns(place, headSha)
  const again = announceSlow({ place, headSha, names: [CHECK_NAME], runs, log: silentLog, patienceMs: 10 })
  await sleep(150)
  expect(await again.end()).toHaveLength(1)
  await say()
  expect(github.checkRunsOf('acme/fleet', headSha)).toMatchObject([{ status: 'completed' }])
})

test('where a verdict stands nothing is announced: it counts until the next one is there', async () => {
  const { place, headSha, say, shown } = await announcing(5_000)
  await say(twoViolations())
  const { list: runs } = headRuns(place, headSha)
  const again = announceSlow({ place, headSha, names: [CHECK_NAME], runs, log: silentLog, patienceMs: 10 })
  await sleep(150)
  expect(await again.end()).toBeUndefined()
  expect(shown()).toMatchObject([{ status: 'completed', conclusion: 'failure' }])
})

test('a GitHub that fails meanwhile does not hold the verdict back', async () => {
  const { github, announced, runs, say, shown } = await announcing(20)
  await runs()
  github.failNext(1, 500, {}, ({ method }) => method === 'POST')
  await sleep(200)
  expect(await announced.end()).toBeUndefined()
  await say()
  expect(shown()).toMatchObject([{ status: 'completed', conclusion: 'success' }])
})

test('what was announced on a head that moved is cancelled, which lets nothing pass', async () => {
  const { place, headSha, announced, shown } = await announcing(20)
  await expect.poll(() => shown()).toHaveLength(1)
  await cancelOvertakenRuns(place, headSha, [CHECK_NAME], (await announced.end()) ?? [])
  expect(shown()).toMatchObject([{ status: 'completed', conclusion: 'cancelled' }])
  await cancelOvertakenRuns(place, headSha, [CHECK_NAME], [])
  expect(shown()).toHaveLength(1)
})

test('the same verdict in another revisionSet is brought up to date in place; another one is a new run', async () => {
  const { place, headSha, say, shown } = await announcing(5_000)
  await say(twoViolations())
  const where = { ...context, headSha }
  await publishVerdict(
    place,
    CHECK,
    { outcome: { ...twoViolations(), revisionSet: 'f'.repeat(64) }, context: where },
    { record: undefined },
  )
  expect(shown()).toHaveLength(1)
  expect(shown()[0]).toMatchObject({ externalId: expect.stringContaining('f'.repeat(24)), annotations: [{}, {}] })
  expect(shown()[0]!.output.summary).toContain('`ffffffffffff`')
  await publishVerdict(place, CHECK, { outcome: verdict(), context: where }, { record: undefined })
  expect(shown().map(run => run.conclusion)).toEqual(['failure', 'success'])
})
