import { BailiwickError, type ErrorCode } from '../src/base/errors.ts'
import type { Attempt } from '../src/receive/queue.ts'

const PASSING: ReadonlySet<ErrorCode> = new Set([
  'github-unavailable',
  'queue-unavailable',
  'cluster-unavailable',
  'cluster-fenced',
  'web-unavailable',
  // a starting API server denies everything until it has read its roles
  'cluster-forbidden',
])

/** Whether an error may be gone on a retry: an outage, or an unexpected bug. */
export function isPassing(error: unknown): boolean {
  return !(error instanceof BailiwickError) || PASSING.has(error.code)
}

/** Whether the queue retries the job after this error: a limit uses up no attempt. */
function isTriedAgain(error: unknown, { lastAttempt }: Pick<Attempt, 'lastAttempt'>): boolean {
  const isLimit = error instanceof BailiwickError && error.limited
  return isLimit || (isPassing(error) && !lastAttempt)
}

/**
 * The error to report when a job ends: our own errors unchanged, a bug without its details. Where the queue retries the job, the
 * error is thrown again, and nothing is reported yet.
 */
export function finalError(error: unknown, attempt: Pick<Attempt, 'lastAttempt'>): BailiwickError {
  if (isTriedAgain(error, attempt)) throw error
  return asBailiwickError(error)
}

/** The error as people may see it: our own unchanged, a bug without its details. */
export function asBailiwickError(error: unknown): BailiwickError {
  if (error instanceof BailiwickError) return error
  return new BailiwickError('internal', 'Bailiwick itself failed', {
    cause: error,
    fix: 'Push again or ask the operator: the log of the worker has the reason.',
  })
}
