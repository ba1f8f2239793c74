import { BailiwickError, type ErrorCode } from '../errors.ts'
import type { JobName } from './queue.ts'

/** How often a job is tried and how long it rests in between: `backoffMs`, twice that, four times that, ... */
export interface RetryPolicy {
  readonly attempts: number
  readonly backoffMs: number
}

/** Six tries in half a minute ride out a restart of GitHub's or an API server's; after that the sweep asks again. */
export const defaultRetry: RetryPolicy = { attempts: 6, backoffMs: 1_000 }

/** Saying that a job is dead must outlast what killed it: twice the tries are half an hour and more. */
const PATIENT: ReadonlySet<JobName> = new Set(['say-dead-pull-request', 'say-dead-commit'])

/** The policy of one kind of job. */
export function retryOf(name: JobName, policy: RetryPolicy): RetryPolicy {
  return PATIENT.has(name) ? { ...policy, attempts: policy.attempts * 2 } : policy
}

const FINAL: ReadonlySet<ErrorCode> = new Set(['not-permitted', 'onboard-input', 'onboard-layout', 'command-input'])

/** Whether trying again cannot help: the answer was a refusal, not an outage. */
export function isFinal(error: unknown): boolean {
  return error instanceof BailiwickError && FINAL.has(error.code)
}

/** The rest before attempt `number + 1`. */
export function backoff(policy: RetryPolicy, number: number): number {
  return policy.backoffMs * 2 ** (number - 1)
}
