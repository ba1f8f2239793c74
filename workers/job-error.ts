import { BailiwickError, type ErrorCode } from '../src/base/errors.ts'
import type { Attempt } from '../src/receive/queue.ts'

const PASSING: ReadonlySet<ErrorCode> = new Set([
  'github-unavailable',
  'queue-unavailable',
  'cluster-unavailable',
  'cluster-fenced',
  'web-unavailable',
  // an API server that starts denies everything until it has read its roles
  'cluster-forbidden',
])

/** Whether an error may be gone when the job is tried again: an outage, or a bug that nobody knows. */
export function isPassing(error: unknown): boolean {
  return !(error instanceof BailiwickError) || PASSING.has(error.code)
}

/** Whether the queue tries the job again after this error, so that nothing is to be said yet: a limit uses up no attempt. */
export function isTriedAgain(error: unknown, { lastAttempt }: Pick<Attempt, 'lastAttempt'>): boolean {
  const isLimit = error instanceof BailiwickError && error.limited
  return isLimit || (isPassing(error) && !lastAttempt)
}

/** What to say of an error that ends a job: its own words where it is ours, nothing of its inside where it is a bug. */
export function asBailiwickError(error: unknown): BailiwickError {
  if (error instanceof BailiwickError) return error
  return new BailiwickError('internal', 'Bailiwick itself failed', {
    cause: error,
    fix: 'Push again or ask the operator: the log of the worker has the reason.',
  })
}
