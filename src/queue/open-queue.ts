import type { Log } from '../log.ts'
import { InProcessQueue } from './in-process-queue.ts'
import type { Queue } from './queue.ts'
import { defaultRetry, type RetryPolicy } from './retry.ts'

/** Where jobs are kept. Without `redisUrl` they live in this process and end with it. */
export interface QueueSettings {
  readonly redisUrl?: string | undefined
  /** Keeps several installations on one Redis apart. */
  readonly prefix?: string | undefined
  readonly log: Log
  readonly retry?: RetryPolicy | undefined
}

/** Opens the queue that the settings name. Connecting to Redis goes on in the background; `add` says when it fails. */
export function openQueue(settings: QueueSettings): Queue {
  return new InProcessQueue(settings.log, settings.retry ?? defaultRetry)
}
