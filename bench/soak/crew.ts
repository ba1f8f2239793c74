import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openQueue } from '../../src/receive/bullmq-queue.ts'
import { silentLog } from '../../test/repository/runner/silent-log.ts'
import { type Program, runProgram, untilReady } from '../../test/workers/app/run-program.ts'
import { freePort, startRedis, type TestRedis } from '../../test/workers/queue/start-redis.ts'
import { settingsOf } from '../../test/workers/story/settings.ts'
import type { FakeGitHub } from '../../tools/github/start.ts'

/** The processes of the App: one web process and some workers on one Redis that keeps its data on disk. */
export interface Crew {
  readonly web: string
  readonly redis: TestRedis
  readonly workers: number
  /** SIGKILL to a worker, and another one in its place. */
  replaceWorker(index: number): Promise<void>
  /** Resolves when no job waits or runs; rejects while Redis is away. */
  idle(): Promise<void>
  close(): Promise<void>
}

export async function startCrew(github: FakeGitHub, workers: number): Promise<Crew> {
  const directory = mkdtempSync(join(tmpdir(), 'soak-'))
  const redis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always'])
  const environment = {
    ...settingsOf({ github, clusters: {}, directory, options: {} }),
    ...{ REDIS_URL: redis.url, JOB_LOCK_MS: '2000', SWEEP_SECONDS: '20', LOG_LEVEL: 'warn' },
  }
  const run = async (file: string, wait: boolean): Promise<{ program: Program; url: string }> => {
    const port = await freePort()
    const program = runProgram(['node', file], { ...environment, PORT: String(port) })
    const url = `http://127.0.0.1:${port}`
    if (wait) await untilReady(`${url}/readyz`, program)
    return { program, url }
  }
  const web = await run('src/index.ts', true)
  const crew = await Promise.all(Array.from({ length: workers }, () => run('workers/index.ts', true)))
  const queue = openQueue({ redisUrl: redis.url, log: silentLog })
  return {
    web: web.url,
    redis,
    workers,
    replaceWorker: async index => {
      await crew[index]!.program.end()
      crew[index] = await run('workers/index.ts', false)
    },
    idle: () => queue.idle(),
    close: async () => {
      await Promise.all([web, ...crew].map(({ program }) => program.end()))
      await queue.close(0)
      await redis.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
