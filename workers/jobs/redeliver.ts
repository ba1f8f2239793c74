import { type DeliveryAttempt, listDeliveries, redeliverAttempt } from '../../src/github/client/open-app-key.ts'
import type { WorkerContext } from '../fleets/worker-context.ts'

/** GitHub redelivers nothing that is older: https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries */
const KEPT_MS = 3 * 24 * 60 * 60 * 1000
/** Per run: 300 requests; the sweep covers what is older. */
const MOST_READ = 30_000
/** Per run: after an outage everything comes within minutes, but not at once. */
const MOST_SENT = 200
/** Attempts are listed some time after they were made. */
const OVERLAP_MS = 15 * 60 * 1000

/**
 * Creates the job that asks GitHub to redeliver failed webhooks, which GitHub never does by itself. Which deliveries
 * failed is read from GitHub; the process only remembers from what time on to look.
 */
export function redeliverer(): (context: WorkerContext) => Promise<void> {
  let from = 0
  return async ({ app, log, metrics }) => {
    const now = Date.now()
    const client = app.own()
    const attempts = await listDeliveries(client, Math.max(from, now - KEPT_MS), MOST_READ)
    const { due, oldest } = missedDeliveries(attempts, now)
    for (const { id, status } of due.slice(0, MOST_SENT)) {
      await redeliverAttempt(client, id)
      metrics.deliveryFailed(status)
    }
    from = Math.min(oldest ?? now, now - OVERLAP_MS)
    if (due.length === 0) return
    const statuses = [...new Set(due.map(({ status }) => status))]
    const secret = 'the web process refuses webhooks of GitHub: WEBHOOK_SECRET differs from the secret of the App'
    if (statuses.includes(401)) log.error({ missed: due.length, statuses }, secret)
    else log.warn({ missed: due.length, statuses }, 'redelivery of failed webhooks requested')
  }
}

const MINUTE = 60_000
/** GitHub waits ten seconds for an answer; an attempt is listed as failed no later than that. */
const UNDER_WAY_MS = MINUTE
/** Pause between two redeliveries of one event; doubles with each, so that a long outage is not a flood. */
const REST_MS = 10 * MINUTE
const LONGEST_REST_MS = 6 * 60 * MINUTE

/** The events that were not delivered, by a list of attempts. */
interface Missed {
  /** An attempt of each event to send again now, and the status of the last one; the oldest event first. */
  readonly due: readonly { readonly id: number; readonly status: number }[]
  /** When the oldest event that is still missed was first sent, in ms; undefined if none is. */
  readonly oldest: number | undefined
}

/** Returns the events that no delivery attempt delivered. `attempts`: in any order; `now` in ms. */
export function missedDeliveries(attempts: readonly DeliveryAttempt[], now: number): Missed {
  const events = Map.groupBy(attempts, ({ guid }) => guid)
  const missed = [...events.values()]
    .filter(all => !all.some(({ taken }) => taken))
    .map(all => all.toSorted((a, b) => a.at - b.at || a.id - b.id))
    .sort(([a], [b]) => (a?.at ?? 0) - (b?.at ?? 0))
  const due = missed
    .filter(all => isDue(all, now))
    .flatMap(all => (all[0] ? [{ id: all[0].id, status: all.at(-1)?.status ?? 0 }] : []))
  return { due, oldest: missed[0]?.[0]?.at }
}

function isDue(attempts: readonly DeliveryAttempt[], now: number): boolean {
  const last = attempts.at(-1)?.at ?? 0
  const again = attempts.filter(({ redelivery }) => redelivery).length
  const rest = again === 0 ? UNDER_WAY_MS : Math.min(LONGEST_REST_MS, REST_MS * 2 ** (again - 1))
  return now - last >= rest
}
