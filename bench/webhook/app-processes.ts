import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openQueue } from '../../src/receive/bullmq-queue.ts'
import { silentLog } from '../../test/repository/runner/silent-log.ts'
import { type Program, runProgram, untilReady } from '../../test/workers/app/run-program.ts'
import { freePort, startRedis } from '../../test/workers/queue/start-redis.ts'
import { until } from '../../test/workers/queue/until.ts'
import { settingsOf } from '../../test/workers/story/settings.ts'
import { openGitHub } from '../../test/workers/story/stage.ts'
import type { FakeGitHub } from '../../tools/github/start.ts'

/** The App as operators run it, beside a GitHub of ours in this process. */
export interface AppProcesses {
  readonly github: FakeGitHub
  readonly web: string
  /** Resolves when every delivery was answered and every job done. */
  settle(): Promise<void>
  close(): Promise<void>
}

/** Starts a web process and a worker process on a real Redis; nothing is applied anywhere. */
export async function openAppProcesses(): Promise<AppProcesses> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-webhook-'))
  const [github, redis] = await Promise.all([
    openGitHub({ checkResponses: false, mergeabilityDelayMs: 0 }),
    startRedis(),
  ])
  // nobody pushed for a while: what is asked again because a push is fresh is no part of a warm evaluation
  const before = new Date(Date.now() - 3_600_000).toISOString().replace(/\.\d+Z$/, 'Z')
  for (const repository of github.world.repositories.values()) repository.pushedAt = before
  const settings = settingsOf({ github, clusters: {}, directory, options: {} })
  const environment = { ...settings, REDIS_URL: redis.url, LOG_LEVEL: 'warn' }
  const [port, health] = [await freePort(), await freePort()]
  const web = `http://127.0.0.1:${port}`
  const start = async (file: string, at: number): Promise<Program> => {
    const program = runProgram(['node', file], { ...environment, PORT: String(at) })
    await untilReady(`http://127.0.0.1:${at}/readyz`, program)
    return program
  }
  const programs = await Promise.all([start('src/index.ts', port), start('workers/index.ts', health)])
  github.app.webhookUrl = `${web}/api/github/webhooks`
  const queue = openQueue({ redisUrl: redis.url, log: silentLog })
  const settle = async () => {
    for (let before = -1; before !== github.requests.length; ) {
      before = github.requests.length
      await github.idle()
      await queue.idle()
    }
  }
  await until(() => github.requests.length > 0)
  await settle()
  return {
    github,
    web,
    settle,
    close: async () => {
      await Promise.all(programs.map(program => program.end()))
      await queue.close(0)
      await Promise.all([github.close(), redis.stop()])
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
