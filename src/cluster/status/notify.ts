import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { BailiwickError } from '../../errors.ts'
import type { Json } from '../../kube/node.ts'
import { metadataOf, REPORTER, referenceOf } from './record-event.ts'
import type { StatusEvent } from './status-events.ts'

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
