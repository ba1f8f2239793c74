import { readWorkerConfig } from '../src/config.ts'
import { warnOfProblems } from '../src/doctor/diagnose.ts'
import { openServices } from '../src/doctor/open-services.ts'
import { openMetrics } from '../src/metrics/open-metrics.ts'
import { openPages } from '../src/pages/open-pages.ts'
import { openWorkStore } from '../src/pages/open-work-store.ts'
import { createLog } from '../src/process/log.ts'
import { readSettings } from '../src/process/read-settings.ts'
import { stopOnSignal } from '../src/process/stop-on-signal.ts'
import { lockTimes } from '../src/queue/bullmq-settings.ts'
import { openQueue } from '../src/queue/open-queue.ts'
import { startServer } from '../src/web/server.ts'
import { startWorkers } from './start-workers.ts'

/** Works on the jobs of a Redis until the process is told to stop. Throws `config`. */
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
