import { setTimeout as sleep } from 'node:timers/promises'
import { readWorkerConfig } from '../src/config.ts'
import { type Log, startLog } from '../src/process/log.ts'
import { stopOnSignal } from '../src/process/run-process.ts'
import { readSettings } from '../src/process/settings.ts'
import { lockTimes } from '../src/receive/bullmq-lane.ts'
import { openQueue } from '../src/receive/bullmq-queue.ts'
import { openMetrics } from '../src/receive/metrics.ts'
import type { OpenQueue } from '../src/receive/queue.ts'
import { openServices, warnOfProblems } from '../src/surface/doctor/diagnose.ts'
import { openPages } from '../src/surface/pages/page-store.ts'
import { openWorkStore } from '../src/surface/pages/work-store.ts'
import { startServer } from '../src/surface/web/server.ts'
import { startWorkers } from './start-workers.ts'

/** Runs the jobs of a Redis until the process is stopped. Throws `config`. */
export async function runOnRedis(): Promise<void> {
  const config = readSettings(process.env, env => readWorkerConfig(env))
  const log = startLog(config.logLevel, 'worker')
  const services = await openServices(config, log)
  void warnOfProblems(config, 'worker', log)
  const queue = openQueue({
    redisUrl: config.redisUrl,
    log,
    locks: lockTimes(config.jobLockMs),
  })
  const { host, port } = config
  const { metrics, access } = openMetrics(config, queue)
  let isWorking = false
  const ready = async () => {
    if (!isWorking) throw new Error('the workers are starting')
    await services.usable()
    await queue.ping()
  }
  const server = await startServer({ host, port, metrics: access, ready, log })
  const store = openPages(config, log)
  const work = openWorkStore(config, log)
  const pages = { store, publicUrl: config.publicUrl }
  let workers: Awaited<ReturnType<typeof startWorkers>> | undefined
  stopOnSignal(log, async () => {
    await server.close(1_000)
    await queue.close(20_000) // running jobs need their workers until here
    await workers?.close()
    await store.close()
    await work.close()
  })
  await untilAnswered(queue, log)
  workers = await startWorkers({ config, queue, log, pages, work, metrics })
  isWorking = true
  log.info({ health: `${server.url}/readyz` }, 'working')
}

const ASK_AGAIN_MS = 1_000

/** An outage of Redis must not end the start: until it answers, the process runs and is not ready. */
async function untilAnswered(queue: Pick<OpenQueue, 'ping'>, log: Pick<Log, 'warn'>): Promise<void> {
  for (let isSaid = false; ; isSaid = true) {
    try {
      return await queue.ping()
    } catch (err) {
      if (!isSaid) log.warn({ err }, 'Redis does not answer: no job runs until it does')
      await sleep(ASK_AGAIN_MS)
    }
  }
}
