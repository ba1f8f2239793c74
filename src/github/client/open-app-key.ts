import { BailiwickError } from '../../base/errors.ts'
import type { Log } from '../../process/log.ts'
import { askUntilAnswered } from '../../process/run-process.ts'
import { type App, openApp } from './app.ts'
import type { Octokit } from './octokit.ts'

interface Settings {
  readonly appId: number
  readonly privateKey: string
  readonly githubApiUrl: string
}

interface Asking {
  readonly log: Pick<Log, 'info' | 'warn'>
  /** GitHub answered after the start, and refuses the key. */
  readonly onRefused: (error: BailiwickError) => void
  /** First pause between two questions. */
  readonly retryMs?: number
}

/** Whether APP_ID and PRIVATE_KEY belong together, by GitHub's answer. */
interface AppKey {
  /** Rejects with `github-unavailable` until GitHub has accepted the key once. */
  accepted(): Promise<void>
}

/** A start waits for GitHub no longer than this. */
const ANSWER_WITHIN_MS = 5_000

/** Asks GitHub whether the key belongs to the App, until it answers. Throws `config` if GitHub refuses it. */
export async function openAppKey(
  { appId, privateKey, githubApiUrl: baseUrl }: Settings,
  { log, onRefused, retryMs }: Asking,
): Promise<AppKey> {
  const app = openApp({ appId, privateKey, baseUrl, readRetries: 0, timeoutMs: ANSWER_WITHIN_MS })
  const { problem } = await askUntilAnswered({ ask: () => ask(app, appId, log), onRefused, retryMs })
  return {
    accepted: async () => {
      if (problem() === undefined) return
      throw new BailiwickError('github-unavailable', `GitHub has not accepted the key of the App yet: ${problem()}`, {
        fix: 'Check that this machine reaches GITHUB_API_URL.',
      })
    },
  }
}

/** Undefined if GitHub accepts the key, else why it did not answer. Throws `config` if it refuses the key. */
async function ask(app: App, appId: number, log: Asking['log']): Promise<string | undefined> {
  try {
    const { slug } = await app.identity()
    log.info({ app: slug }, 'GitHub accepts the key of the App')
    return undefined
  } catch (error) {
    const code = error instanceof BailiwickError ? error.code : undefined
    if (code === 'not-permitted' || code === 'git-missing') throw refused(appId)
    log.warn({ err: error }, 'GitHub did not answer whether the key belongs to the App; not ready until it does')
    return error instanceof Error ? error.message : String(error)
  }
}

const refused = (appId: number) =>
  new BailiwickError('config', `APP_ID and PRIVATE_KEY: GitHub does not accept this key for the App ${appId}`, {
    fix:
      'Open the App\'s settings on GitHub, copy its "App ID" into APP_ID, and generate a private key there for ' +
      'PRIVATE_KEY. If both are right, check the clock of this machine.',
  })

/** One attempt of GitHub's to deliver an event to the App; attempts of one event have one guid. */
export interface DeliveryAttempt {
  readonly id: number
  readonly guid: string
  /** When, in ms. */
  readonly at: number
  readonly redelivery: boolean
  /** Whether our web process took it. */
  readonly taken: boolean
  /** Of its response; 502 or 504 where GitHub got none. */
  readonly status: number
}

/**
 * What GitHub sent to the App since a time (in ms), the newest first; at most `most`. `client` is the App's own. GitHub
 * keeps three days: https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/viewing-webhook-deliveries
 */
export async function listDeliveries(client: Octokit, since: number, most: number): Promise<DeliveryAttempt[]> {
  const attempts: DeliveryAttempt[] = []
  for await (const { data } of client.paginate.iterator(client.rest.apps.listWebhookDeliveries, { per_page: 100 })) {
    attempts.push(...data.map(attemptOf))
    const last = attempts.at(-1)
    if (last === undefined || last.at < since || attempts.length >= most) break
  }
  return attempts.filter(({ at }) => at >= since).slice(0, most)
}

/** Has GitHub deliver an event once more. GitHub answers before it does. */
export async function redeliverAttempt(client: Octokit, id: number): Promise<void> {
  await client.rest.apps.redeliverWebhookDelivery({ delivery_id: id })
}

interface DeliveryAnswer {
  readonly id: number
  readonly guid: string
  readonly delivered_at: string
  readonly redelivery: boolean
  readonly status_code: number
}

function attemptOf({ id, guid, delivered_at, redelivery, status_code: code }: DeliveryAnswer): DeliveryAttempt {
  return { id, guid, at: Date.parse(delivered_at), redelivery, taken: code >= 200 && code < 300, status: code }
}
