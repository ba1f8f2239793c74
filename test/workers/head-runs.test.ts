import { expect, test } from 'vitest'
import { InProcessQueue } from '../../src/receive/in-process-queue.ts'
import { CHECK_NAME } from '../../src/verdict/check-names.ts'
import { announceSlow, HeadRuns, publishVerdict } from '../../workers/gate/publish-checks.ts'
import { acme, FLEET } from '../github/adapter/acme.ts'
import { twoViolations, verdict } from '../report/samples.ts'
import { context } from '../report/situations.ts'
import { silentLog } from '../repository/runner/silent-log.ts'

const CHECK = { name: CHECK_NAME, bases: ['main'], followed: ['main'] }

/** Several jobs about one commit. */
async function jobs(count: number) {
  const { github, octokit, identity, asked } = await acme()
  const headSha = github.commitOf('acme/fleet', 'main')
  const place = { ...FLEET, octokit, app: identity }
  const queue = new InProcessQueue(silentLog)
  const heads = Array.from({ length: count }, () => new HeadRuns(queue, place, headSha))
  const say = async (head: HeadRuns, outcome = verdict()) => {
    const present = await head.list()
    return head.withLock(present, runs =>
      publishVerdict(place, CHECK, { outcome, context: { ...context, headSha } }, { runs, record: undefined }),
    )
  }
  asked()
  return { place, headSha, heads, say, asked, shown: () => github.checkRunsOf('acme/fleet', headSha) }
}

test('who wrote nothing since lists the runs once; who finds that another one did lists them again', async () => {
  const { heads, say, asked, shown } = await jobs(2)
  const [one, other] = heads as [HeadRuns, HeadRuns]
  await Promise.all([one.list(), other.list()])
  expect(await say(one)).toBe(true)
  expect(await say(other), 'it is said already').toBe(false)
  expect(await say(other, twoViolations()), 'nobody wrote since').toBe(true)
  const list = 'GET /commits/{ref}/check-runs'
  expect(asked()).toEqual([list, list, 'POST /check-runs', list, 'POST /check-runs'])
  expect(shown().map(({ conclusion }) => conclusion)).toEqual(['success', 'failure'])
})

test('jobs that announce at once share one run, and each ends it with what it says', async () => {
  const { heads, say, place, headSha, shown } = await jobs(3)
  const announced = heads.map(({ list: runs, withLock }) =>
    announceSlow({ place, headSha, names: [CHECK.name], runs, withLock, log: silentLog, patienceMs: 1 }),
  )
  await expect.poll(() => shown()).toMatchObject([{ status: 'queued' }])
  await Promise.all(announced.map(one => one.end()))
  await Promise.all(heads.map(head => say(head)))
  expect(shown()).toMatchObject([{ status: 'completed', conclusion: 'success' }])
})
