import type { Log } from '../process/log.ts'
import { BullmqQueue } from './bullmq-queue.ts'
import type { LockTimes } from './bullmq-settings.ts'
import { InProcessQueue } from './in-process-queue.ts'
import type { OpenQueue } from './queue.ts'
import type { RetryPolicy } from './retry.ts'

/** Where jobs are kept. Without `redisUrl` they live in this process and end with it. */
interface QueueSettings {
  readonly redisUrl?: string | undefined
  /** Keeps several installations on one Redis apart. */
  readonly prefix?: string | undefined
  readonly log: Log
  readonly retry?: RetryPolicy | undefined
  readonly locks?: LockTimes | undefined
}

/** Opens the queue that the settings select. Redis is connected in the background; if that fails, `add` throws. */
export function openQueue(settings: QueueSettings): OpenQueue {
  const { redisUrl, prefix = 'bailiwick', log, retry, locks } = settings
  if (redisUrl === undefined) return new InProcessQueue(log, retry)
  return new BullmqQueue({ redisUrl, prefix, log, retry, locks })
}
