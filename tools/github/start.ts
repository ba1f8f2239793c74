import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type AppOptions, accounts } from './accounts.ts'
import { Deliveries } from './events/deliveries.ts'
import { type FailWhen, type Records, serve } from './http/serve.ts'
import { Trouble, type TroubleOptions } from './http/trouble.ts'
import { people } from './people.ts'
import { activityRoutes } from './routes/activity.ts'
import { appRoutes } from './routes/apps.ts'
import { checkSuiteRoutes } from './routes/check-suites.ts'
import { checkRoutes } from './routes/checks.ts'
import { commentRoutes } from './routes/comments.ts'
import { commitRoutes } from './routes/commits.ts'
import { contentRoutes } from './routes/contents.ts'
import { deployKeyRoutes } from './routes/deploy-keys.ts'
import { gitObjectRoutes } from './routes/git-objects.ts'
import { hookRoutes } from './routes/hook.ts'
import { issueEventRoutes } from './routes/issue-events.ts'
import { issueRoutes } from './routes/issues.ts'
import { labelRoutes } from './routes/labels.ts'
import { manifestRoutes } from './routes/manifest.ts'
import { oauthRoutes } from './routes/oauth.ts'
import { peopleRoutes } from './routes/people.ts'
import { protectionRoutes } from './routes/protection.ts'
import { pullRoutes } from './routes/pulls.ts'
import { reactionRoutes } from './routes/reactions.ts'
import { refRoutes } from './routes/refs.ts'
import { repositoryRoutes } from './routes/repository.ts'
import { reviewCommentRoutes } from './routes/review-comments.ts'
import { reviewRoutes } from './routes/reviews.ts'
import { rulesetRoutes } from './routes/rulesets.ts'
import { tagRoutes } from './routes/tags.ts'
import { tarballRoutes } from './routes/tarball.ts'
import { teamRoutes } from './routes/teams.ts'
import { userInstallationRoutes } from './routes/user-installations.ts'
import { views } from './views.ts'
import type { World } from './world.ts'

export interface GitHubOptions {
  /** The app under test; `addApp` adds others. */
  readonly app?: AppOptions
  /** How long `mergeable` stays null after a head or base moved. */
  readonly mergeabilityDelayMs?: number
  /** Checks our own answers against GitHub's description too, see `responseViolations`. */
  readonly checkResponses?: boolean
  /** How long an app may take to answer a webhook; GitHub's ten seconds by default. */
  readonly patienceMs?: number
  /** How many webhooks are under way to an app at once; one by default, so that they come in order. */
  readonly deliveriesAtOnce?: number
  /** Requests per caller before 403. Unlimited by default: a long suite must not run into it. */
  readonly rateLimit?: number
}

export type FakeGitHub = Awaited<ReturnType<typeof startGitHub>>

/**
 * Starts a GitHub in memory on a free port of 127.0.0.1. Nothing is kept after `close()`. What it does not have (commit
 * statuses, GraphQL, reviews demanded by CODEOWNERS, renames in merges ...) it answers with 404 or 501 and puts into
 * `unknown`.
 */
export async function startGitHub(options: GitHubOptions = {}) {
  const world = emptyWorld(options.mergeabilityDelayMs ?? 10)
  const deliveries = new Deliveries(world, deliveryOptions(options))
  world.emit = (...announcement) => deliveries.announce(...announcement)
  world.emitForAccount = (...announcement) => deliveries.announceForAccount(...announcement)
  world.emitToInstallation = (...announcement) => deliveries.announceToInstallation(...announcement)
  const records: Records = {
    requests: [],
    violations: [],
    responseViolations: [],
    unknown: [],
    failures: [],
    held: new Set(),
    trouble: undefined,
  }
  const { checkResponses = false, rateLimit = Number.MAX_SAFE_INTEGER } = options
  const registry = accounts(world)
  const listener = serve({ world, routes: routes(deliveries, registry), records, checkResponses, rateLimit })
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  world.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  /** The next `times` requests (that fit `when`) are answered with `status`, before anything else is looked at. */
  function failNext(
    times: number,
    status: number,
    headers: Record<string, string> = {},
    when: FailWhen = () => true,
  ): void {
    records.failures.push({ left: times, status, headers, when })
  }

  /** From now on requests that fit `when` are answered only after what this gives was called. */
  function hold(when: FailWhen): () => void {
    const { promise: until, resolve } = Promise.withResolvers<void>()
    const held = { when, until }
    records.held.add(held)
    return () => {
      records.held.delete(held)
      resolve()
    }
  }

  /** From now on a share of the requests fails; `stop()` ends it, `failed` says how many did. A second call replaces it. */
  function trouble(options: TroubleOptions = {}): Trouble {
    records.trouble = new Trouble(options)
    return records.trouble
  }

  /** How often each route was called since the start or the last `forget`: 'GET /repos/{owner}/{repo}' to a number. */
  function counts(): Record<string, number> {
    const totals: Record<string, number> = {}
    for (const { method, route } of records.requests)
      totals[`${method} ${route}`] = (totals[`${method} ${route}`] ?? 0) + 1
    return totals
  }

  async function close(): Promise<void> {
    for (const timer of world.timers) clearTimeout(timer)
    await deliveries.close()
    server.closeAllConnections()
    await new Promise<void>(resolve => server.close(() => resolve()))
  }

  return {
    url: world.url,
    world,
    app: registry.addApp(options.app),
    ...registry,
    ...people(world, registry),
    ...views(world, registry),
    ...{ requests: records.requests, violations: records.violations, unknown: records.unknown },
    responseViolations: records.responseViolations,
    deliveries: deliveries.log,
    /** Sends any event to an app, as it is: for events that nothing here causes. */
    send: deliveries.send.bind(deliveries),
    /** Resolves when every webhook was answered, those included that come meanwhile. */
    idle: () => deliveries.idle(),
    forget: () => void records.requests.splice(0),
    ...{ counts, failNext, hold, trouble, close },
  }
}

function deliveryOptions({ patienceMs, deliveriesAtOnce }: GitHubOptions) {
  return {
    ...(patienceMs === undefined ? {} : { patienceMs }),
    ...(deliveriesAtOnce === undefined ? {} : { lanes: deliveriesAtOnce }),
  }
}

function routes(deliveries: Deliveries, registry: ReturnType<typeof accounts>) {
  return [
    ...[
      ...appRoutes(),
      ...repositoryRoutes(),
      ...hookRoutes(deliveries),
      ...peopleRoutes(),
      ...refRoutes(),
      ...tagRoutes(),
      ...gitObjectRoutes(),
    ],
    ...deployKeyRoutes(),
    ...[...contentRoutes(), ...commitRoutes(), ...tarballRoutes(), ...pullRoutes()],
    ...[...reviewRoutes(), ...reviewCommentRoutes()],
    ...[
      ...checkRoutes(),
      ...checkSuiteRoutes(),
      ...issueRoutes(),
      ...commentRoutes(),
      ...labelRoutes(),
      ...reactionRoutes(),
    ],
    ...[...protectionRoutes(), ...rulesetRoutes(), ...teamRoutes(), ...activityRoutes(), ...issueEventRoutes()],
    ...[...oauthRoutes(), ...manifestRoutes(registry.addApp), ...userInstallationRoutes()],
  ]
}

function emptyWorld(mergeabilityDelayMs: number): World {
  let lastId = 1000
  return {
    ...{
      url: '',
      users: new Map(),
      repositories: new Map(),
      moved: new Map(),
      apps: new Map(),
      installations: new Map(),
    },
    ...{
      tokens: new Map(),
      noDeployKeys: new Set<string>(),
      members: new Map(),
      teams: new Map(),
      rulesets: new Map(),
      mergeabilityDelayMs,
      lateCounts: false,
      timers: new Set(),
    },
    ...{ oauth: { codes: new Map(), refresh: new Map() }, signedIn: undefined },
    emit: () => {},
    emitForAccount: () => {},
    emitToInstallation: () => {},
    nextId: () => ++lastId,
  }
}
