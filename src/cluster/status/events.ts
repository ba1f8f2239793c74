import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { BailiwickError } from '../../base/errors.ts'
import { KUSTOMIZE_GROUP } from '../../kube/flux-kinds.ts'
import type { Json } from '../../kube/node.ts'
import type { ObjectId } from '../../kube/object.ts'
import type { ClusterClient } from '../client.ts'
import { ClusterError } from '../cluster-error.ts'
import { mapAt, stringAt } from '../json.ts'
import { failureText, goDuration, type ReconcileAttempt } from './kustomization-status.ts'

/** One event about a Kustomization, as Flux words it. */
export interface StatusEvent {
  readonly severity: 'info' | 'error'
  readonly reason: string
  readonly message: string
  readonly metadata: Readonly<Record<string, string>>
}

/** What an attempt did to objects, in the order in which it happened. */
export interface ObjectStep {
  readonly object: Pick<ObjectId, 'kind' | 'namespace' | 'name'>
  readonly action: 'created' | 'configured' | 'deleted'
}

interface EventInput {
  readonly attempt: ReconcileAttempt
  readonly changes: readonly ObjectStep[]
  readonly intervalMs: number
  /** Its Healthy condition was True before. */
  readonly wasHealthy: boolean
  /** Another revision was applied before. */
  readonly isNewRevision: boolean
}

/**
 * The events that kustomize-controller 1.9 sends for this attempt, in its order and words; none where the source or its
 * artifact is missing. Pure. The reason is that of the Ready condition at the moment of each.
 */
export function statusEvents({ attempt, changes, intervalMs, wasHealthy, isNewRevision }: EventInput): StatusEvent[] {
  const { outcome, revision, originRevision, durationMs } = attempt
  const metadata = revisionMetadata(revision, originRevision)
  const event = (severity: StatusEvent['severity'], reason: string, message: string): StatusEvent => ({
    severity,
    reason,
    message,
    metadata,
  })
  if (outcome.state === 'suspended') return []
  if (outcome.state === 'waiting') {
    if (outcome.reason !== 'DependencyNotReady') return [event('error', outcome.reason, outcome.message)]
    return [event('info', outcome.reason, 'Dependencies do not meet ready condition, retrying in 30s')]
  }
  if (outcome.state === 'stalled') return [event('error', outcome.reason, outcome.message)]
  const applied = lines(changes.filter(({ action }) => action !== 'deleted'))
  const pruned = lines(changes.filter(({ action }) => action === 'deleted'))
  // kustomize-controller adds what it applied before a failure to the text of the failure
  const isPartial = outcome.state === 'failed' && outcome.reason === 'ReconciliationFailed'
  const events = [isPartial ? '' : applied, pruned].filter(Boolean).map(text => event('info', 'Progressing', text))
  if (outcome.state === 'checking') return events
  if (outcome.state === 'failed') return [...events, event('error', outcome.reason, failureText(outcome))]
  const { healthMs } = outcome
  if (healthMs !== undefined && (!wasHealthy || (isNewRevision && applied !== ''))) {
    events.push(event('info', 'Progressing', `Health check passed in ${goDuration(healthMs)}`))
  }
  const finished = `Reconciliation finished in ${goDuration(durationMs)}, next run in ${goDuration(intervalMs)}`
  const last = event('info', 'ReconciliationSucceeded', finished)
  return [...events, { ...last, metadata: { ...metadata, [`${KUSTOMIZE_GROUP}/commit_status`]: 'update' } }]
}

function lines(changes: readonly ObjectStep[]): string {
  return changes.map(({ object, action }) => `${subject(object)} ${action}`).join('\n')
}

/** The metadata of an event about a revision; none without a revision. */
export function revisionMetadata(revision: string, originRevision = ''): Record<string, string> {
  return {
    ...(revision ? { [`${KUSTOMIZE_GROUP}/revision`]: revision } : {}),
    ...(originRevision ? { [`${KUSTOMIZE_GROUP}/originRevision`]: originRevision } : {}),
  }
}

/** `Kind/namespace/name`, or `Kind/name` of what has no namespace. */
export function subject({ kind, namespace, name }: ObjectStep['object']): string {
  return [kind, ...(namespace === '' ? [] : [namespace]), name].join('/')
}

/** Who reports: in Kubernetes Events, and to notification-controller. */
const REPORTER = 'bailiwick'
const EVENT_GROUP = 'event.toolkit.fluxcd.io/'

/**
 * Writes a Kubernetes Event about the live Kustomization as the worker, or counts the one with the same text; nothing
 * where there are too many (see EventCorrelator). An event in a namespace that goes away is not written. Throws other
 * errors of the API server.
 */
export async function recordEvent(
  client: ClusterClient,
  correlator: EventCorrelator<string>,
  live: Json,
  event: StatusEvent,
  now: Date = new Date(),
): Promise<void> {
  const type = event.severity === 'error' ? 'Warning' : 'Normal'
  const about = referenceOf(live)
  const counted = {
    object: JSON.stringify([about.namespace, about.name, about.uid]),
    type,
    reason: event.reason,
    message: event.message,
  }
  const correlated = correlator.correlate(counted, now.getTime())
  if (!correlated) return
  const collection = `/api/v1/namespaces/${about.namespace}/events`
  const { message, count, earlier } = correlated
  const lastTimestamp = now.toISOString().replace(/\.\d+Z$/, 'Z')
  if (earlier !== undefined) {
    const answer = await client.request('worker', 'PATCH', `${collection}/${earlier}`, {
      contentType: 'application/merge-patch+json',
      body: { count, lastTimestamp, message },
    })
    if (answer.status !== 404) return correlator.wrote(counted, correlated, earlier)
  }
  // as client-go names them: by the nanosecond
  const name = `${about.name}.${(BigInt(now.getTime()) * 1_000_000n + (process.hrtime.bigint() % 1_000_000n)).toString(16)}`
  const body: Json = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: about.namespace!, annotations: metadataOf(live, event) },
    involvedObject: about,
    type,
    reason: event.reason,
    message,
    count,
    firstTimestamp: lastTimestamp,
    lastTimestamp,
    source: { component: REPORTER },
    reportingComponent: REPORTER,
  }
  try {
    await client.request('worker', 'POST', collection, { body })
  } catch (error) {
    if (error instanceof ClusterError && error.causes.some(({ reason }) => reason === 'NamespaceTerminating')) return
    throw error
  }
  correlator.wrote(counted, correlated, name)
}

/** What an event is about, as Kubernetes refers to an object. */
function referenceOf(live: Json): Readonly<Record<string, string>> {
  const { namespace, name, uid, resourceVersion } = mapAt(live, 'metadata')
  return {
    apiVersion: stringAt(live, 'apiVersion'),
    kind: stringAt(live, 'kind'),
    namespace: String(namespace),
    name: String(name),
    uid: String(uid),
    resourceVersion: String(resourceVersion),
  }
}

/** With what the Kustomization itself asks to be passed on (fluxcd/pkg runtime/events). */
function metadataOf(live: Json, event: StatusEvent): Record<string, string> {
  const own = Object.entries(mapAt(live, 'metadata', 'annotations'))
  const passed = own.flatMap(([key, value]) => (key.startsWith(EVENT_GROUP) ? [[key, String(value)] as const] : []))
  return { ...event.metadata, ...Object.fromEntries(passed) }
}

/** An event as it is counted: the object it is about, and its text. */
interface Counted {
  /** Kind, namespace, name and uid of the object. */
  readonly object: string
  readonly type: string
  readonly reason: string
  readonly message: string
}

/** What to write: a new Event, or the one that was written before with a higher count. */
interface Correlated<Written> {
  readonly message: string
  readonly count: number
  readonly earlier?: Written
}

const MAX_KEYS = 4_096
const BURST = 25
const REFILL_MS = 300_000
const SIMILAR = 10
const SIMILAR_MS = 600_000

/**
 * Limits events as the recorder of client-go does (tools/record/events_cache.go): 25 about one object and then one in 5
 * minutes; of those that differ only by message, at most 10 within 10 minutes and then one that is counted; the same
 * event again is counted. `Written`: what the caller needs to find an Event again.
 */
export class EventCorrelator<Written> {
  readonly #tokens = new Map<string, { left: number; at: number }>()
  readonly #similar = new Map<string, { messages: Set<string>; at: number }>()
  readonly #written = new Map<string, { count: number; event: Written }>()

  /** Undefined: too many, it is left out. */
  correlate(event: Counted, now: number): Correlated<Written> | undefined {
    if (!this.#mayPass(`${event.object} ${event.type}`, now)) return undefined
    const message = this.#isOneOfMany(event, now) ? `(combined from similar events): ${event.message}` : event.message
    const earlier = this.#written.get(this.#keyOf(event, message))
    return earlier ? { message, count: earlier.count + 1, earlier: earlier.event } : { message, count: 1 }
  }

  wrote(event: Counted, { message, count }: Correlated<Written>, written: Written): void {
    keep(this.#written, this.#keyOf(event, message), { count, event: written })
  }

  #keyOf({ object, type, reason }: Counted, message: string): string {
    // combined events are one event, with the latest text
    return JSON.stringify([object, type, reason, message.startsWith('(combined from') ? '' : message])
  }

  #mayPass(key: string, now: number): boolean {
    const known = this.#tokens.get(key) ?? { left: BURST, at: now }
    const left = Math.min(BURST, known.left + (now - known.at) / REFILL_MS)
    keep(this.#tokens, key, { left: left >= 1 ? left - 1 : left, at: now })
    return left >= 1
  }

  #isOneOfMany({ object, type, reason, message }: Counted, now: number): boolean {
    const key = JSON.stringify([object, type, reason])
    const known = this.#similar.get(key)
    const messages = known !== undefined && now - known.at <= SIMILAR_MS ? known.messages : new Set<string>()
    messages.add(message)
    const isFull = messages.size >= SIMILAR
    if (isFull) messages.delete(messages.values().next().value!)
    keep(this.#similar, key, { messages, at: now })
    return isFull
  }
}

/** The oldest goes first. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > MAX_KEYS) map.delete(map.keys().next().value!)
}

const TIMEOUT_MS = 5_000
const WAITS_MS = [1_000, 2_000, 4_000]

/**
 * Posts an event to notification-controller at `address`, so that the Alerts of tenants see it. Tried again where it does
 * not answer or is broken; 429 is an event that it has already. Throws `cluster-unavailable` where it cannot be reached.
 */
export async function notify(
  address: string,
  live: Json,
  event: StatusEvent,
  { now = new Date(), waitsMs = WAITS_MS }: { readonly now?: Date; readonly waitsMs?: readonly number[] } = {},
): Promise<void> {
  const body = JSON.stringify({
    involvedObject: referenceOf(live),
    severity: event.severity,
    timestamp: now.toISOString(),
    message: event.message,
    reason: event.reason,
    metadata: metadataOf(live, event),
    reportingController: REPORTER,
    reportingInstance: hostname(),
  })
  let why = ''
  for (const wait of [...waitsMs, undefined]) {
    why = await post(address, body)
    if (why === '') return
    if (wait !== undefined) await sleep(wait)
  }
  throw new BailiwickError('cluster-unavailable', `notification-controller does not take events: ${why}`, {
    fix: 'Correct `events` of this cluster in clusters.yaml, or remove it.',
  })
}

/** '' where it was taken, or never will be; else why not. */
async function post(address: string, body: string): Promise<string> {
  try {
    const headers = { 'Content-Type': 'application/json' }
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const answer = await fetch(address, { method: 'POST', headers, body, signal, redirect: 'error' })
    await answer.body?.cancel()
    if (answer.ok || answer.status === 429) return ''
    return `status ${answer.status}`
  } catch (error) {
    return error instanceof Error ? ((error.cause as Error | undefined)?.message ?? error.message) : String(error)
  }
}
