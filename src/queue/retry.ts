import { BailiwickError, type ErrorCode } from '../errors.ts'
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
