import type { JobsOptions, MinimalJob, WorkerOptions } from 'bullmq'
import { Redis } from 'ioredis'
import { askedFor } from './pause.ts'
import { backoff, type RetryPolicy } from './retry.ts'

/** How long a worker may be unresponsive before its job is taken over, and how often that is checked. */
export interface LockTimes {
  readonly lockMs: number
  readonly stalledMs: number
}

/** The lock times for `lockMs`: the job of a killed worker runs again within that time and 5 s. */
export function lockTimes(lockMs: number): LockTimes {
  return { lockMs, stalledMs: Math.min(5_000, Math.ceil(lockMs / 2)) }
}

export const defaultLocks: LockTimes = lockTimes(30_000)

/**
 * A job's options. `keepLastIfActive` with `replace` is the one way of BullMQ to have one waiting and one running job
 * per key and lose nothing: https://docs.bullmq.io/guide/jobs/deduplication
 */
export function jobOptions(key: string, retry: RetryPolicy, delayMs: number, priority: number): JobsOptions {
  return {
    attempts: retry.attempts,
    // a type of our own: how long depends on the error, see workerOptions
    backoff: { type: 'asked', delay: retry.backoffMs },
    deduplication: { id: key, keepLastIfActive: true, replace: true },
    removeOnComplete: { count: 1_000, age: 86_400 },
    removeOnFail: { count: 1_000, age: 604_800 },
    ...(delayMs > 0 ? { delay: delayMs } : {}),
    ...(priority > 0 ? { priority } : {}),
  }
}

/** A worker's options. A stall does not count as an attempt, so a job that kills its worker ends after three of them. */
export function workerOptions(locks: LockTimes, concurrency: number): Omit<WorkerOptions, 'connection'> {
  return {
    concurrency,
    lockDuration: locks.lockMs,
    stalledInterval: locks.stalledMs,
    maxStalledCount: 3,
    runRetryDelay: 1_000,
    settings: { backoffStrategy: restOf },
  }
}

function restOf(attemptsMade: number, _type?: string, error?: Error, job?: MinimalJob): number {
  const { backoff: rest } = job?.opts ?? {}
  const backoffMs = typeof rest === 'object' ? (rest.delay ?? 0) : 0
  return Math.max(backoff({ attempts: 0, backoffMs }, attemptsMade), askedFor(error))
}

/** A connection to add jobs with: a command fails when Redis is gone, instead of waiting for its return. */
export function producerConnection(url: string): Redis {
  return new Redis(url, { maxRetriesPerRequest: 1, connectTimeout: 2_000 })
}

/** A connection to work with; BullMQ demands that its blocking commands wait for ever. */
export function workerConnection(url: string): Redis {
  return new Redis(url, { maxRetriesPerRequest: null, connectTimeout: 5_000 })
}
