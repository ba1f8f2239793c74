import { listDeliveries, redeliverAttempt } from '../../src/github/client/deliveries.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { missedDeliveries } from './missed-deliveries.ts'

/** GitHub redelivers nothing that is older: https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries */
const KEPT_MS = 3 * 24 * 60 * 60 * 1000
/** Of one look: 300 requests; what is older is the sweep's matter. */
const MOST_READ = 30_000
/** Of one look: after an outage everything comes within minutes, but not at once. */
const MOST_SENT = 200
/** Attempts are listed some time after they were made. */
const OVERLAP_MS = 15 * 60 * 1000

/**
 * Creates the job that asks GitHub to redeliver failed webhooks, which GitHub never does by itself. Which deliveries
 * failed is read from GitHub; the process only remembers from what time on to look.
 */
export function redeliverer(): (context: WorkerContext) => Promise<void> {
  let from = 0
  return async ({ app, log }) => {
    const now = Date.now()
    const client = app.own()
    const attempts = await listDeliveries(client, Math.max(from, now - KEPT_MS), MOST_READ)
    const { due, oldest } = missedDeliveries(attempts, now)
    for (const id of due.slice(0, MOST_SENT)) await redeliverAttempt(client, id)
    from = Math.min(oldest ?? now, now - OVERLAP_MS)
    if (due.length > 0) log.warn({ missed: due.length }, 'redelivery of failed webhooks requested')
  }
}
