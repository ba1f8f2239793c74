import { readWorkerConfig } from '../src/config.ts'
import { createLog } from '../src/process/log.ts'
import { stopOnSignal } from '../src/process/run-process.ts'
import { readSettings } from '../src/process/settings.ts'
import { lockTimes } from '../src/receive/bullmq-lane.ts'
import { openQueue } from '../src/receive/bullmq-queue.ts'
import { openMetrics } from '../src/receive/metrics.ts'
import { openServices, warnOfProblems } from '../src/surface/doctor/diagnose.ts'
import { openPages } from '../src/surface/pages/page-store.ts'
import { openWorkStore } from '../src/surface/pages/work-store.ts'
import { startServer } from '../src/surface/web/server.ts'
import { startWorkers } from './start-workers.ts'

/** Runs the jobs of a Redis until the process is stopped. Throws `config`. */
export async function runOnRedis(): Promise<void> {
  const config = readSettings(process.env, env => readWorkerConfig(env))
  const log = createLog(config.logLevel)
  const services = await openServices(config, log)
  void warnOfProblems(config, 'worker', log)
  const queue = openQueue({
    redisUrl: config.redisUrl,
    prefix: config.redisPrefix,
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
  const workers = await startWorkers({ config, queue, log, pages, work, metrics })
  stopOnSignal(log, async () => {
    await server.close(1_000)
    await queue.close(20_000) // running jobs need their workers until here
    await workers.close()
    await store.close()
    await work.close()
  })
  isWorking = true
  log.info({ health: `${server.url}/readyz` }, 'working')
}
