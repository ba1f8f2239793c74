import { type ApplicationFunction, Probot } from 'probot'
import type { ContentToken } from './cluster/channel/cluster-work.ts'
import { assertSiteKeys, readSiteKeys } from './cluster/channel/worker-keys.ts'
import { readClustersFile } from './cluster/clusters-file.ts'
import type { Config, WebConfig } from './config.ts'
import { type App, openApp } from './github/client/app.ts'
import type { Pace } from './github/client/client-class.ts'
import { openOAuth } from './github/client/open-oauth.ts'
import { isLoopbackHost, isLoopbackUrl } from './process/environment.ts'
import type { createLog, Log } from './process/log.ts'
import { openQueue } from './receive/bullmq-queue.ts'
import { openMetrics } from './receive/metrics.ts'
import type { OpenQueue, Queue } from './receive/queue.ts'
import { registerWebhooks } from './receive/register.ts'
import type { RetryPolicy } from './receive/retry.ts'
import { openPages, type PageStore } from './surface/pages/page-store.ts'
import { openTtlStore } from './surface/pages/ttl-store.ts'
import { openWorkStore, type WorkStore } from './surface/pages/work-store.ts'
import { ClusterDoor } from './surface/web/cluster-door.ts'
import { Pages, type PagesSettings } from './surface/web/pages.ts'
import { type Receiver, verifySignature } from './surface/web/receive-webhook.ts'
import { startServer, type WebServer } from './surface/web/server.ts'
import { closedGate, loopbackGate, PersonGate, SESSION_LIMITS, Sessions, SignIn } from './surface/web/sign-in.ts'

type Logger = ReturnType<typeof createLog>

interface Site {
  readonly url: string
  readonly queue: OpenQueue
  /** Stops listening, lets running jobs finish within `graceMs`, and closes everything. */
  close(graceMs?: number): Promise<void>
}

interface SiteOptions {
  /** Rejects while something other than the queue keeps the process from working. */
  readonly isUsable?: () => Promise<void>
  /** What follows is set by tests only. */
  readonly disabledRules?: readonly string[]
  readonly retry?: RetryPolicy
  /** Pauses between writes to GitHub. */
  readonly pace?: Pace
  readonly openThread?: import('../workers/fleets/open-thread.ts').OpenThread
}

/** Starts the web process, with workers inside if it has no Redis. Throws `config` if it cannot start. */
export async function startSite(config: WebConfig, log: Logger, options: SiteOptions = {}): Promise<Site> {
  const { disabledRules = [], retry, pace, openThread, isUsable } = options
  const queue = openQueue({ redisUrl: config.redisUrl, log, retry })
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

/** Builds Probot with an app function for the server. Makes no network request. */
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

/** The pages of a site; `close` closes their store. */
interface SitePages {
  readonly pages: Pages
  close(): Promise<void>
}

/**
 * The pages, for people who sign in with GitHub. Without the App's OAuth they are for this machine only, and only if no
 * proxy forwards others by loopback: the operator confirms that with a PUBLIC_URL of this machine, or GitHub itself is
 * on this machine, as in a rehearsal.
 */
export function openSitePages(
  config: Config,
  { store, queueDepths, log }: Pick<PagesSettings, 'queueDepths'> & { readonly store: PageStore; readonly log: Log },
): SitePages {
  const { clientId, clientSecret, publicUrl, githubApiUrl, redisUrl } = config
  if (clientId === undefined || clientSecret === undefined || publicUrl === undefined) {
    const isOpen = isLoopbackHost(config.host) && isLoopbackUrl(publicUrl ?? githubApiUrl)
    const gate = isOpen ? loopbackGate : closedGate
    return { pages: new Pages({ store, gate, queueDepths }), close: () => store.close() }
  }
  const sessionStore = openTtlStore({ ...SESSION_LIMITS, redisUrl, name: 'sessions', log })
  const sessions = new Sessions(sessionStore)
  const people = openOAuth({ clientId, clientSecret, apiUrl: githubApiUrl })
  const signIn = new SignIn(sessions, people, publicUrl)
  const pages = new Pages({ store, gate: new PersonGate(sessions, people), signIn, queueDepths })
  const close = async (): Promise<void> => {
    await sessions.close()
    await store.close()
  }
  return { pages, close }
}

/** Address of the pages in checks: the public one, or this process if it and GitHub are on this machine. */
export function pagesAddress({ publicUrl, host, githubApiUrl }: Config, here: string): string | undefined {
  return publicUrl ?? (isLoopbackHost(host) && isLoopbackUrl(githubApiUrl) ? here : undefined)
}

/** GitHub's limit of repositories for one token. */
const REPOSITORIES_OF_A_TOKEN = 500
/** A returned token is valid for at least this long. */
const TOKEN_LASTS_MS = 600_000

/**
 * Serves the workers in clusters; undefined if the operator's clusters.yaml names no worker key. Throws `config` for a
 * file that cannot be used.
 */
export function openSiteWorkers(
  config: Config,
  {
    queue,
    store,
    log,
  }: { readonly queue: Pick<Queue, 'add' | 'withLock'>; readonly store: WorkStore; readonly log: Log },
): ClusterDoor | undefined {
  const bindings = config.clustersFile === undefined ? [] : readClustersFile(config.clustersFile)
  const files = new Map(bindings.flatMap(({ name, workerKey }) => (workerKey === undefined ? [] : [[name, workerKey]])))
  if (files.size === 0) return undefined
  assertSiteKeys(bindings)
  const { appId, privateKey, githubApiUrl: baseUrl, allowedAccounts } = config
  const app = openApp({ appId, privateKey, baseUrl, allowedAccounts, log })
  return new ClusterDoor({
    store,
    keysOf: cluster => {
      const file = files.get(cluster)
      return file === undefined ? undefined : readSiteKeys(file)
    },
    tokens: keptTokens(app),
    withLock: (key, work) => queue.withLock(key, work),
    onResults: cluster => queue.add('publish-results', { cluster }),
    log,
  })
}

/** Reuses tokens while they last, so that endless requests do not make GitHub create more. */
function keptTokens(app: Pick<App, 'contentToken'>) {
  const kept = new Map<string, ContentToken>()
  return async (installation: number, repositories: readonly number[]): Promise<readonly ContentToken[]> => {
    const ids = [...new Set(repositories)].sort((a, b) => a - b)
    const tokens: ContentToken[] = []
    for (let from = 0; from < ids.length; from += REPOSITORIES_OF_A_TOKEN) {
      const part = ids.slice(from, from + REPOSITORIES_OF_A_TOKEN)
      const key = JSON.stringify([installation, part])
      for (const [old, { expiresAt }] of kept) if (Date.parse(expiresAt) - TOKEN_LASTS_MS < Date.now()) kept.delete(old)
      const token = kept.get(key) ?? { ...(await app.contentToken(installation, part)), repositories: part }
      kept.set(key, token)
      tokens.push(token)
    }
    return tokens
  }
}
