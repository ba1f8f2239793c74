import { BailiwickError } from '../base/errors.ts'
import type { Json } from '../kube/node.ts'
import type { ClusterClient } from './client.ts'
import { ClusterError } from './cluster-error.ts'
import { jsonAt, stringAt } from './json.ts'

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
  /** Called each time that another candidate holds the Lease, or that the API server does not answer. */
  readonly waiting?: (why: string, isHeld: boolean) => void
}

/** Waits until the Lease is ours. Throws `cluster-forbidden` and what ends the wait; rejects when it is aborted. */
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

/** The longer of both: a holder that slept must not act as if it still held the Lease. */
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

/**
 * The same client for the holder of the Lease: each write is sent only while the Lease is held, ends on the server
 * before another candidate may begin, and is given up when the Lease is lost. Reads go through as they are.
 */
export function leasedClient(client: ClusterClient, lease: Pick<HeldLease, 'signal' | 'writeWithin'>): ClusterClient {
  // once for each signal: those that are combined for each request outlive it
  const combined = new WeakMap<AbortSignal, AbortSignal>()
  const until = (signal: AbortSignal | undefined): AbortSignal => {
    if (!signal) return lease.signal
    const known = combined.get(signal) ?? AbortSignal.any([signal, lease.signal])
    combined.set(signal, known)
    return known
  }
  return {
    ...client,
    over: other => leasedClient(other, lease),
    request: async (actor, method, path, options = {}) => {
      if (method === 'GET') return client.request(actor, method, path, options)
      lease.writeWithin()
      const within = () => Math.min(lease.writeWithin(), options.within?.() ?? Number.POSITIVE_INFINITY)
      try {
        return await client.request(actor, method, path, { ...options, signal: until(options.signal), within })
      } catch (error) {
        // whatever became of this one: nothing else of this run may follow
        lease.signal.throwIfAborted()
        throw error
      }
    },
  }
}

/** Timing of an election, in milliseconds; the rules are those of client-go's leaderelection. */
export interface LeaseTiming {
  /** How long others wait after the last renewal that they saw. Whole seconds. */
  readonly duration: number
  /** How long the holder goes on without a renewal; shorter than `duration`. */
  readonly renewDeadline: number
  readonly retry: number
}

/** Those of Flux's controllers. */
export const LEASE_TIMING: LeaseTiming = { duration: 35_000, renewDeadline: 30_000, retry: 5_000 }

interface ElectionSettings {
  readonly name: string
  /** Unique to this process. */
  readonly identity: string
  readonly timing: LeaseTiming
}

const NOBODY: LeaseRecord = {
  holder: '',
  seconds: 0,
  acquireTime: '',
  renewTime: '',
  transitions: 0,
  uid: '',
  resourceVersion: '',
}

/**
 * One candidate of an election by a Lease in the worker's own namespace. Clocks of machines are never compared: another
 * holder counts until its record did not change for its whole duration, measured here.
 */
export class LeaseElection {
  readonly #client: ClusterClient
  readonly #settings: ElectionSettings
  #seen: LeaseRecord | undefined
  #seenAt = 0

  constructor(client: ClusterClient, settings: ElectionSettings) {
    const { duration, renewDeadline, retry } = settings.timing
    if (duration <= renewDeadline || renewDeadline <= retry * 1.2)
      throw new RangeError('no worker can be elected safely with these times')
    this.#client = client
    this.#settings = settings
  }

  /** Who holds it, as it was seen last. */
  get holder(): string {
    return this.#seen?.holder ?? ''
  }

  /** Tries once to take or to renew the Lease; true: it is ours. Throws where the API server does not answer. */
  async attempt(signal: AbortSignal): Promise<boolean> {
    const { identity, timing } = this.#settings
    // the holder's renewal needs no reading: the resourceVersion is the fence
    if (this.#seen?.holder === identity && (await this.#write(this.#renewed(this.#seen), signal))) return true
    const { status, body } = await this.#request('GET', this.#path, signal)
    // a deletion does not stop the holder, who may have renewed just before it: the wait begins anew
    const gone: LeaseRecord = { ...(this.#seen ?? NOBODY), uid: '', resourceVersion: '' }
    const record = status === 404 ? gone : readLease(body)
    if (record.resourceVersion !== this.#seen?.resourceVersion || record.uid !== this.#seen.uid) this.#see(record)
    const { holder, seconds } = record
    const isForeign = holder !== '' && holder !== identity
    if (isForeign && performance.now() < this.#seenAt + Math.max(seconds * 1000, timing.duration)) return false
    return this.#write(this.#renewed(record), signal)
  }

  /** Lets others begin at once. Only while no write of ours can still be under way. */
  async release(signal: AbortSignal): Promise<void> {
    const record = this.#seen
    if (record?.holder !== this.#settings.identity) return
    await this.#write({ ...record, holder: '', seconds: 1, renewTime: microTime(Date.now()) }, signal)
  }

  #renewed(record: LeaseRecord): LeaseRecord {
    const { identity, timing } = this.#settings
    const renewTime = microTime(Date.now())
    const seconds = Math.ceil(timing.duration / 1000)
    if (record.holder === identity) return { ...record, seconds, renewTime }
    const transitions = record.uid === '' ? 0 : record.transitions + 1
    return { ...record, holder: identity, seconds, acquireTime: renewTime, renewTime, transitions }
  }

  /** False: another candidate wrote in between. */
  async #write(record: LeaseRecord, signal: AbortSignal): Promise<boolean> {
    const isNew = record.uid === ''
    const body = leaseObject(this.#client.namespace, this.#settings.name, record)
    try {
      const answer = await this.#request(isNew ? 'POST' : 'PUT', isNew ? this.#collection : this.#path, signal, body)
      if (answer.status === 404) return false
      this.#see(readLease(answer.body))
      return true
    } catch (error) {
      if (error instanceof ClusterError && error.status === 409) return false
      throw error
    }
  }

  #see(record: LeaseRecord): void {
    this.#seen = record
    this.#seenAt = performance.now()
  }

  /** Ahead of everything else: a busy worker must not lose its Lease. */
  #request(method: string, path: string, signal: AbortSignal, body?: Json) {
    return this.#client.request('worker', method, path, {
      ahead: true,
      signal,
      ...(body === undefined ? {} : { body }),
    })
  }

  get #collection(): string {
    return `/apis/coordination.k8s.io/v1/namespaces/${this.#client.namespace}/leases`
  }

  get #path(): string {
    return `${this.#collection}/${this.#settings.name}`
  }
}

/** What a Lease of coordination.k8s.io/v1 records about its leader. */
interface LeaseRecord {
  /** '': none leads. */
  readonly holder: string
  readonly seconds: number
  /** As the API server has them; never compared with a clock of ours. */
  readonly acquireTime: string
  readonly renewTime: string
  readonly transitions: number
  readonly uid: string
  readonly resourceVersion: string
}

/** Reads a Lease; what is missing is empty, as client-go reads it. */
function readLease(object: Json): LeaseRecord {
  return {
    holder: stringAt(object, 'spec', 'holderIdentity'),
    seconds: wholeAt(object, 'leaseDurationSeconds'),
    acquireTime: stringAt(object, 'spec', 'acquireTime'),
    renewTime: stringAt(object, 'spec', 'renewTime'),
    transitions: wholeAt(object, 'leaseTransitions'),
    uid: stringAt(object, 'metadata', 'uid'),
    resourceVersion: stringAt(object, 'metadata', 'resourceVersion'),
  }
}

/** The Lease to write; with the uid and resourceVersion of the record, where it has them, as precondition. */
function leaseObject(namespace: string, name: string, record: LeaseRecord): Json {
  const { holder, seconds, acquireTime, renewTime, transitions, uid, resourceVersion } = record
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace, ...(uid === '' ? {} : { uid, resourceVersion }) },
    spec: {
      holderIdentity: holder,
      leaseDurationSeconds: seconds,
      acquireTime,
      renewTime,
      leaseTransitions: transitions,
    },
  }
}

/** A MicroTime: Kubernetes reads exactly six digits of a second. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z')
}

function wholeAt(object: Json, key: string): number {
  const value = jsonAt(object, 'spec', key)
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : 0
}
