import { BailiwickError, type ErrorCode } from '../base/errors.ts'
import type { Log } from '../process/log.ts'
import type { JobName } from './queue.ts'

/** How often a job is tried, and the delay between tries: `backoffMs`, then twice that, four times that, ... */
export interface RetryPolicy {
  readonly attempts: number
  readonly backoffMs: number
}

/** Six tries in half a minute outlast a restart of GitHub or an API server; after that the sweep adds the job again. */
export const defaultRetry: RetryPolicy = { attempts: 6, backoffMs: 1_000 }

/** Saying that a job is dead must outlast what killed it: twice the tries are half an hour and more. */
const PATIENT: ReadonlySet<JobName> = new Set(['report-dead-pull-request', 'report-dead-commit'])

/** The policy of one kind of job. */
export function retryOf(name: JobName, policy: RetryPolicy): RetryPolicy {
  return PATIENT.has(name) ? { ...policy, attempts: policy.attempts * 2 } : policy
}

const FINAL: ReadonlySet<ErrorCode> = new Set([
  'not-permitted',
  'onboard-input',
  'onboard-layout',
  'offboard-input',
  'offboard-layout',
  'sops-config',
  'command-input',
])

/** Whether a retry is pointless: the request was refused, not interrupted. */
export function isFinal(error: unknown): boolean {
  return error instanceof BailiwickError && FINAL.has(error.code)
}

/** The delay before attempt `number + 1`. */
export function backoff(policy: RetryPolicy, number: number): number {
  return policy.backoffMs * 2 ** (number - 1)
}

/** A limit of GitHub's is over within the hour: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api */
const LONGEST_MS = 65 * 60 * 1000

/** How long an installation must pause after an error, in ms; undefined if only the job failed. */
export function pauseOf(error: unknown): number | undefined {
  return error instanceof BailiwickError && error.limited ? Math.max(1_000, askedFor(error)) : undefined
}

/** The delay before a retry that an error requests, in ms; 0 if none. */
export function askedFor(error: unknown): number {
  return error instanceof BailiwickError ? Math.min(LONGEST_MS, (error.retryAfter ?? 0) * 1000) : 0
}

/** The installation whose rate limits a job uses; undefined if it has none. */
export function holderOf(data: object): string | undefined {
  const { installation } = data as { readonly installation?: number }
  return installation === undefined ? undefined : String(installation)
}

/** The repository by which workers are shared fairly among jobs of a kind. */
export function shareOf(data: object): string | undefined {
  const { owner, repo } = data as { readonly owner?: string; readonly repo?: string }
  return owner === undefined || repo === undefined ? undefined : `${owner}/${repo}`.toLowerCase()
}

/** The rate-limit pauses of installations, shared by all lanes of a process. */
export class RateLimitPauses {
  readonly #until = new Map<string, number>()

  /** Pauses an installation; a longer pause that it already has stays. */
  pause(holder: string | undefined, ms: number): void {
    if (holder === undefined) return
    this.#until.set(holder, Math.max(this.#until.get(holder) ?? 0, Date.now() + ms))
  }

  /** How long the pause still lasts, in ms; 0 without one. */
  left(holder: string | undefined): number {
    if (holder === undefined) return 0
    const left = (this.#until.get(holder) ?? 0) - Date.now()
    if (left <= 0) this.#until.delete(holder)
    return Math.max(0, left)
  }
}

type Tell<D> = (data: D, error: unknown) => Promise<void>

/** Reports that a job ended without success. A failure of the report itself is only logged. */
export function reportDeadJob<D extends object>(tell: Tell<D> | undefined, log: Log): Tell<object> {
  return async (data, error) => {
    try {
      await tell?.(data as D, error)
    } catch (err) {
      log.error({ err, job: data }, 'failed job could not be reported')
    }
  }
}

/** Returns the result of the promise, or `late` after `limitMs`. A later rejection is ignored. */
export async function within<T>(limitMs: number, promise: Promise<T>): Promise<T | 'late'> {
  const limit = Promise.withResolvers<'late'>()
  const timer = setTimeout(() => limit.resolve('late'), limitMs)
  try {
    return await Promise.race([promise, limit.promise])
  } finally {
    clearTimeout(timer)
  }
}
