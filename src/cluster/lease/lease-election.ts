import type { Json } from '../../kube/node.ts'
import type { ClusterClient } from '../client.ts'
import { ClusterError } from '../cluster-error.ts'
import { type LeaseRecord, leaseObject, microTime, readLease } from './lease-record.ts'

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
      throw new RangeError('these times elect nobody safely')
    this.#client = client
    this.#settings = settings
  }

  /** Who holds it, as it was seen last. */
  get holder(): string {
    return this.#seen?.holder ?? ''
  }

  /** Tries once to take or to renew the Lease; true: it is ours. Throws where the API server does not say. */
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
