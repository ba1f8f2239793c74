import { message } from '../../message/message.ts'
import { github } from './github-error.ts'
import type { Octokit } from './octokit.ts'

/** One attempt of GitHub's to deliver an event to the App; attempts of one event have one guid. */
export interface DeliveryAttempt {
  readonly id: number
  readonly guid: string
  /** When, in ms. */
  readonly at: number
  readonly redelivery: boolean
  /** Whether our web process took it. */
  readonly taken: boolean
}

/**
 * What GitHub sent to the App since a time (in ms), the newest first; at most `most`. `client` speaks as the App itself.
 * GitHub keeps three days: https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/viewing-webhook-deliveries
 */
export async function listDeliveries(client: Octokit, since: number, most: number): Promise<DeliveryAttempt[]> {
  const attempts: DeliveryAttempt[] = []
  await github(message`list the App's deliveries`, async () => {
    const pages = client.paginate.iterator(client.rest.apps.listWebhookDeliveries, { per_page: 100 })
    for await (const { data } of pages) {
      attempts.push(...data.map(attemptOf))
      const last = attempts.at(-1)
      if (last === undefined || last.at < since || attempts.length >= most) return
    }
  })
  return attempts.filter(({ at }) => at >= since).slice(0, most)
}

/** Has GitHub deliver an event once more. GitHub answers before it does. */
export async function redeliverAttempt(client: Octokit, id: number): Promise<void> {
  await github(message`redeliver delivery ${id}`, () => client.rest.apps.redeliverWebhookDelivery({ delivery_id: id }))
}

interface DeliveryAnswer {
  readonly id: number
  readonly guid: string
  readonly delivered_at: string
  readonly redelivery: boolean
  readonly status_code: number
}

function attemptOf({ id, guid, delivered_at, redelivery, status_code: code }: DeliveryAnswer): DeliveryAttempt {
  return { id, guid, at: Date.parse(delivered_at), redelivery, taken: code >= 200 && code < 300 }
}
