import { type ApplicationFunction, Probot } from 'probot'
import type { WebConfig } from './config.ts'
import { openMetrics } from './metrics/open-metrics.ts'
import { openPages } from './pages/open-pages.ts'
import { openWorkStore } from './pages/open-work-store.ts'
import type { createLog } from './process/log.ts'
import { openQueue } from './queue/open-queue.ts'
import type { OpenQueue } from './queue/queue.ts'
import type { RetryPolicy } from './queue/retry.ts'
import { openSitePages, pagesAddress } from './site-pages.ts'
import { openSiteWorkers } from './site-workers.ts'
import type { Receiver } from './web/receive-webhook.ts'
import { startServer, type WebServer } from './web/server.ts'
import { verifySignature } from './web/verify-signature.ts'
import { registerWebhooks } from './webhooks/register.ts'

type Logger = ReturnType<typeof createLog>

/** A web process that runs. */
interface Site {
  readonly url: string
  readonly queue: OpenQueue
  /** Stops listening, lets running jobs finish within the time, and lets go of everything. */
  close(graceMs?: number): Promise<void>
}

interface SiteOptions {
  /** Rejects while the process cannot do its work for another reason than its queue. */
  readonly isUsable?: () => Promise<void>
  /** What follows is set by tests only. */
  readonly disabledRules?: readonly string[]
  readonly retry?: RetryPolicy
  /** How writes to GitHub follow each other. */
  readonly pace?: { readonly writeMs: number; readonly notifyMs: number }
  readonly openThread?: import('../workers/threads/open-thread.ts').OpenThread
}

/** Starts the web process, with workers inside when there is no Redis. Throws `config` when it cannot. */
export async function startSite(config: WebConfig, log: Logger, options: SiteOptions = {}): Promise<Site> {
  const { disabledRules = [], retry, pace, openThread, isUsable } = options
  const queue = openQueue({ redisUrl: config.redisUrl, prefix: config.redisPrefix, log, retry })
  const { host, port, appId, allowedAccounts } = config
  const receiver = await createReceiver(config, log, probot =>
    registerWebhooks(probot, { queue, log, appId, allowedAccounts }),
  )
  const store = openPages(config, log)
  const work = openWorkStore(config, log)
  const { metrics, access } = openMetrics(config, queue)
  const clusters = openSiteWorkers(config, { queue, store: work, log })
  const { pages, close: closeSitePages } = openSitePages(config, { store, queueDepths: () => queue.depths(), log })
  const closePages = () => closeSitePages().then(() => work.close())
  const server = await startServer({
    host,
    port,
    receiver,
    pages,
    clusters,
    metrics: access,
    onDelivery: status => metrics.deliveryAnswered(status),
    ready: async () => {
      await isUsable?.()
      await queue.ping()
    },
    log,
  }).catch(async error => {
    await queue.close(0)
    await closePages()
    throw error
  })
  if (config.redisUrl !== undefined) return siteOf(server, queue, closePages)
  try {
    // Not a static import: the web process beside a Redis must not load what renders and applies.
    const { startWorkers } = await import('../workers/start-workers.ts')
    const kept = { store, publicUrl: pagesAddress(config, server.url) }
    const workers = await startWorkers({
      ...{ config, queue, log, pages: kept, work, metrics },
      ...{ disabledRules, pace, openThread },
    })
    return siteOf(server, queue, () => workers.close().then(closePages))
  } catch (error) {
    await siteOf(server, queue, closePages).close(0)
    throw error
  }
}

function siteOf(server: WebServer, queue: OpenQueue, closeRest: () => Promise<void>): Site {
  const close = async (graceMs = 20_000): Promise<void> => {
    await server.close(Math.min(graceMs, 5_000))
    await queue.close(graceMs) // running jobs need their workers until here
    await closeRest()
  }
  return { url: server.url, queue, close }
}

/** Probot with an app function, as the server needs it. Calls nothing on the network. */
export async function createReceiver(
  config: WebConfig,
  log: Logger,
  appFunction: ApplicationFunction,
): Promise<Receiver> {
  const { appId, privateKey, webhookSecret: secret, webhookSecretPrevious: previous, githubApiUrl: baseUrl } = config
  const secrets = previous === undefined ? [secret] : [secret, previous]
  const probot = new Probot({ appId, privateKey, secret, baseUrl, log })
  await probot.ready()
  await probot.load(appFunction)
  return {
    verify: async (body, signature) => verifySignature(secrets, body, signature),
    receive: event => probot.receive(event as Parameters<typeof probot.receive>[0]),
  }
}
