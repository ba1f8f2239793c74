import { join } from 'node:path'
import { readConfig, readWorkerConfig } from '../../../src/config.ts'
import { createLog } from '../../../src/process/log.ts'
import { lockTimes } from '../../../src/receive/bullmq-lane.ts'
import { openQueue } from '../../../src/receive/bullmq-queue.ts'
import { openMetrics } from '../../../src/receive/metrics.ts'
import type { OpenQueue } from '../../../src/receive/queue.ts'
import { pagesAddress, startSite } from '../../../src/start-site.ts'
import { openPages } from '../../../src/surface/pages/page-store.ts'
import { openWorkStore } from '../../../src/surface/pages/work-store.ts'
import { startWorkers } from '../../../workers/start-workers.ts'
import { openKeptThread } from './kept-threads.ts'
import type { StageOptions } from './stage.ts'

type Site = Awaited<ReturnType<typeof startSite>>

/** How many sets of workers there are: jobs about one commit may run in both at once. */
const SETS = 2
/** A job of workers that crashed is taken over within that. */
const LOCK_MS = 5_000

/** What waits for more events, or lets others go first, waits a hundredth of that, as writes to GitHub do. */
export function hasten(queue: OpenQueue): void {
  const add: OpenQueue['add'] = queue.add.bind(queue)
  queue.add = (name, data, { delayMs = 0 } = {}) => add(name, data, { delayMs: Math.ceil(delayMs / 100) })
}

interface WorkerSet {
  close(graceMs: number): Promise<void>
}

/**
 * The App as operators run it on one Redis: a web site that works on nothing, and workers beside it. Each set has its own
 * connections, memory, cache folder and evaluation thread, and shares only Redis and GitHub, as processes do.
 */
export async function startWithWorkers(environment: Record<string, string>, options: StageOptions): Promise<Site> {
  const config = readConfig(environment)
  const site = await startSite(config, createLog(config.logLevel), options)
  hasten(site.queue)
  const publicUrl = pagesAddress(config, site.url)
  const sets = await Promise.all(
    Array.from({ length: SETS }, (_, index) => {
      const cache = join(environment.CACHE_DIR!, String(index))
      return startSet({ RENDER_THREADS: '1', ...environment, CACHE_DIR: cache }, publicUrl, options)
    }),
  )
  return {
    url: site.url,
    queue: site.queue,
    close: async (graceMs = 5_000) => {
      await Promise.all(sets.map(set => set.close(graceMs)))
      await site.close(graceMs)
    },
  }
}

/** What workers/run-on-redis.ts starts, but for the process around it. */
async function startSet(
  environment: Record<string, string>,
  publicUrl: string | undefined,
  { disabledRules = [], retry, pace }: StageOptions,
): Promise<WorkerSet> {
  const config = readWorkerConfig(environment)
  const log = createLog(config.logLevel)
  const { redisUrl } = config
  const queue = openQueue({ redisUrl, log, retry, locks: lockTimes(LOCK_MS) })
  hasten(queue)
  const { metrics } = openMetrics(config, queue)
  const store = openPages(config, log)
  const work = openWorkStore(config, log)
  const workers = await startWorkers({
    config,
    queue,
    log,
    pages: { store, publicUrl },
    work,
    metrics,
    disabledRules,
    pace,
    openThread: openKeptThread,
  })
  return {
    close: async graceMs => {
      await queue.close(graceMs)
      await workers.close()
      await store.close()
      await work.close()
    },
  }
}
