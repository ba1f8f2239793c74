import { BailiwickError } from '../../errors.ts'
import type { ClusterClient } from '../client.ts'
import { LEASE_TIMING, LeaseElection, type LeaseTiming } from './lease-election.ts'

/** What is left between the last moment of a write and the moment at which another candidate may begin. */
const MARGIN_MS = 2_000
const JITTER = 1.2

/** A Lease that is ours, and renewed until it is released or lost. */
export interface HeldLease {
  /** Aborted when the Lease is lost or released: nothing may be written any more. */
  readonly signal: AbortSignal
  /** How long a write that is sent now may take before another candidate may begin. Throws `cluster-fenced` when it must not be sent. */
  writeWithin(): number
  /** Call it when no write is under way: others may begin at once. */
  release(): Promise<void>
}

interface LeaseOptions {
  readonly name: string
  /** Unique to this process. */
  readonly identity: string
  readonly timing?: LeaseTiming
  /** Told each time that somebody else holds it, or else that the API server does not say. */
  readonly waiting?: (why: string, isHeld: boolean) => void
}

/** Waits until the Lease is ours. Throws `cluster-forbidden` and what ends the wait; rejects when it is told to stop. */
export async function acquireLease(
  client: ClusterClient,
  { name, identity, timing = LEASE_TIMING, waiting }: LeaseOptions,
  stop: AbortSignal,
): Promise<HeldLease> {
  const election = new LeaseElection(client, { name, identity, timing })
  for (;;) {
    stop.throwIfAborted()
    const begun = elapsed()
    try {
      if (await within(timing.renewDeadline, stop, signal => election.attempt(signal)))
        return hold(election, { name, timing }, begun)
      waiting?.(`${election.holder || 'another worker'} holds it`, true)
    } catch (error) {
      stop.throwIfAborted()
      if (!(error instanceof BailiwickError) || error.code === 'cluster-forbidden') throw error
      waiting?.(error.message, false)
    }
    // with jitter, so that candidates do not meet again and again
    await pause(timing.retry * (1 + Math.random() * JITTER), stop)
  }
}

/** `since`: when the request that took it was sent. */
function hold(
  election: LeaseElection,
  { name, timing }: { readonly name: string; readonly timing: LeaseTiming },
  since: Moment,
): HeldLease {
  const over = new AbortController()
  let renewed = since
  let deadline: NodeJS.Timeout | undefined
  const lost = () =>
    new BailiwickError('cluster-fenced', `the Lease ${name} was lost: another worker may apply now`, {
      fix: 'Nothing: this worker waits for the Lease again.',
    })
  const arm = () => {
    clearTimeout(deadline)
    deadline = setTimeout(() => over.abort(lost()), Math.max(0, timing.renewDeadline - sinceMs(renewed)))
  }
  const renew = async () => {
    while (!over.signal.aborted) {
      await pause(timing.retry, over.signal)
      if (over.signal.aborted) return
      const begun = elapsed()
      const left = timing.renewDeadline - sinceMs(renewed)
      if (left <= 0) return over.abort(lost())
      try {
        if (!(await within(left, over.signal, signal => election.attempt(signal)))) return over.abort(lost())
        renewed = begun
        arm()
      } catch {
        // asked again until the deadline
      }
    }
  }
  arm()
  const renewing = renew()
  return {
    signal: over.signal,
    writeWithin: () => {
      const age = sinceMs(renewed)
      if (over.signal.aborted || age >= timing.renewDeadline) throw lost()
      return timing.duration - Math.min(MARGIN_MS, (timing.duration - timing.renewDeadline) / 2) - age
    },
    release: async () => {
      const isOurs = !over.signal.aborted
      over.abort(lost())
      clearTimeout(deadline)
      await renewing
      if (isOurs) await within(timing.retry, undefined, signal => election.release(signal))
    },
  }
}

/** On the clock that never jumps, and on the one that goes on while the machine sleeps. */
interface Moment {
  readonly steady: number
  readonly wall: number
}

const elapsed = (): Moment => ({ steady: performance.now(), wall: Date.now() })

/** The longer of both: a holder that slept must not believe that it still holds. */
function sinceMs({ steady, wall }: Moment): number {
  return Math.max(performance.now() - steady, Date.now() - wall)
}

/** Does `work` with a signal that ends it after so long, or when the other one is given. */
async function within<T>(
  ms: number,
  stop: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController()
  const end = () => limit.abort()
  const timer = setTimeout(end, ms)
  stop?.addEventListener('abort', end, { once: true })
  if (stop?.aborted) end()
  try {
    return await work(limit.signal)
  } finally {
    clearTimeout(timer)
    stop?.removeEventListener('abort', end)
  }
}

/** Ends early, and does not throw, when the signal is given. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
  })
}
