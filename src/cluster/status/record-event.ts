import type { Json } from '../../kube/node.ts'
import type { ClusterClient } from '../client.ts'
import { ClusterError } from '../cluster-error.ts'
import { mapAt, stringAt } from '../json-at.ts'
import type { EventCorrelator } from './event-correlator.ts'
import type { StatusEvent } from './status-events.ts'

/** Who reports: in Kubernetes Events, and to notification-controller. */
export const REPORTER = 'bailiwick'
const EVENT_GROUP = 'event.toolkit.fluxcd.io/'

/**
 * Writes a Kubernetes Event about the live Kustomization as the worker, or counts the one that says the same; nothing where
 * there are too many (see EventCorrelator). An event in a namespace that goes away is not written. Throws what the API
 * server answers otherwise.
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
export function referenceOf(live: Json): Readonly<Record<string, string>> {
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
export function metadataOf(live: Json, event: StatusEvent): Record<string, string> {
  const own = Object.entries(mapAt(live, 'metadata', 'annotations'))
  const passed = own.flatMap(([key, value]) => (key.startsWith(EVENT_GROUP) ? [[key, String(value)] as const] : []))
  return { ...event.metadata, ...Object.fromEntries(passed) }
}
