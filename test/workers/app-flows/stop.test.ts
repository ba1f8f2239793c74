import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openQueue } from '../../../src/receive/bullmq-queue.ts'
import type { OpenQueue } from '../../../src/receive/queue.ts'
import type { FakeGitHub } from '../../../tools/github/start.ts'
import { built } from '../../repository/package/built.ts'
import { silentLog } from '../../repository/runner/silent-log.ts'
import { type Program, runProgram } from '../app/run-program.ts'
import { freePort, hasRedis, startRedis, type TestRedis } from '../queue/start-redis.ts'
import { until } from '../queue/until.ts'
import { settingsOf } from '../story/settings.ts'
import { openGitHub } from '../story/stage.ts'

const TEAM = 'acme/dev-team'
const GATE = 'bailiwick / tenancy'
const MANY = 10

describe.skipIf(!hasRedis)('SIGTERM, with a web process and a worker on one Redis', () => {
  let github: FakeGitHub
  let redis: TestRedis
  let queue: OpenQueue
  let environment: Record<string, string>
  const directory = mkdtempSync(join(tmpdir(), 'bailiwick-stop-'))
  const running: Program[] = []
  const started = { web: 0, worker: 0 }

  beforeAll(async () => {
    ;[github, redis] = await Promise.all([openGitHub(), startRedis(), built()])
    started.web = await freePort()
    started.worker = await freePort()
    environment = {
      ...settingsOf({ github, clusters: {}, directory, options: { logLevel: 'info' } }),
      REDIS_URL: redis.url,
    }
    github.app.webhookUrl = `http://127.0.0.1:${started.web}/api/github/webhooks`
    queue = openQueue({ redisUrl: redis.url, log: silentLog })
  }, 120_000)
  afterAll(async () => {
    await Promise.all(running.map(program => program.end()))
    await queue.close(0)
    await Promise.all([github.close(), redis.stop()])
    rmSync(directory, { recursive: true, force: true })
  })

  const run = async (name: 'web' | 'worker'): Promise<Program> => {
    const file = join((await built()).folder, 'dist', `${name}.js`)
    const program = runProgram(['node', file], { ...environment, PORT: String(started[name]) })
    running.push(program)
    const ready = () =>
      fetch(`http://127.0.0.1:${started[name]}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      )
    await until(ready, 60_000)
    return program
  }
  const settle = async (): Promise<void> => {
    for (let before = -1; before !== github.requests.length; ) {
      before = github.requests.length
      await github.idle()
      await queue.idle()
    }
  }
  const runsOf = (branch: string) => github.checkRunsOf(TEAM, branch).filter(({ name }) => name === GATE)
  const branches = Array.from({ length: MANY }, (_, index) => `change-${index}`)
  const evaluated = () => branches.filter(branch => runsOf(branch).some(({ status }) => status === 'completed')).length

  test('the worker ends what it does and leaves the rest; the next one does that, and nothing twice', async () => {
    await run('web')
    const worker = await run('worker')
    await settle()
    for (const branch of branches) {
      github.propose({ repo: TEAM, branch, files: { [branch]: 'x\n' }, as: 'ada' })
    }
    await until(() => evaluated() >= 2)
    const asked = performance.now()
    worker.process.kill('SIGTERM')
    expect(await worker.exit).toBe(0)
    expect(performance.now() - asked, 'well before a container is killed').toBeLessThan(15_000)
    await github.idle()
    const before = evaluated()
    expect(before, 'it did not wait for all that was left').toBeLessThan(MANY)
    expect(worker.said()).not.toContain('"job attempt failed"')
    for (const branch of branches) for (const { status } of runsOf(branch)) expect(status).toBe('completed')
    await run('worker')
    await settle()
    expect(evaluated()).toBe(MANY)
    for (const branch of branches) {
      const verdicts = runsOf(branch).filter(({ output }) => output.title?.startsWith('Passed'))
      expect(
        verdicts.map(one => [one.externalId, one.startedAt, one.output.summary]),
        branch,
      ).toHaveLength(1)
      expect(runsOf(branch).at(-1)).toBe(verdicts[0])
    }
  }, 120_000)

  test('the web process answers what it took, and ends', async () => {
    const web = running[0]!
    github.push({
      repo: TEAM,
      branch: 'last',
      parent: github.commitOf(TEAM, 'main'),
      files: { last: 'x\n' },
      as: 'ada',
    })
    github.openPullRequest({ repo: TEAM, head: 'last', as: 'ada' })
    await until(() => github.deliveries.some(({ status }) => status === undefined))
    web.process.kill('SIGTERM')
    expect(await web.exit).toBe(0)
    await github.idle()
    const lost = github.deliveries.filter(({ status }) => status !== 200)
    await settle()
    const isLost = lost.some(({ event, action }) => event === 'pull_request' && action === 'opened')
    expect(runsOf('last'), 'a verdict, or a delivery that GitHub lists as failed').toHaveLength(isLost ? 0 : 1)
  }, 60_000)
})
