import { ProbotOctokit } from 'probot'
import { BailiwickError } from '../errors.ts'
import { isAllowedAccount } from '../process/allowed-account.ts'
import { github } from './github-error.ts'
import type { AppIdentity, Octokit, RepositoryName } from './octokit.ts'
import { scopedAuth } from './scoped-auth.ts'
import { tokenCache } from './token-cache.ts'

export interface AppOptions {
  readonly appId: number
  readonly privateKey: string
  /** Root of the REST API; default GitHub's own. */
  readonly baseUrl?: string
  /** Accounts whose installations are served; absent: all. */
  readonly allowedAccounts?: readonly string[] | undefined
  /** One write per second and installation, as GitHub asks for. Off for a server of one's own. Default on. */
  readonly throttle?: boolean
  /** How often a read is repeated after a 5xx, with 1, 4, 9 s between. Writes never are: they might have arrived. */
  readonly readRetries?: number
  /** For one request with its whole answer, archives included; default two minutes. */
  readonly timeoutMs?: number
  /** Where octokit writes; default nowhere. */
  readonly log?: Log
}

export interface Log {
  debug(message: string): unknown
  info(message: string): unknown
  warn(message: string): unknown
  error(message: string): unknown
}

export interface Installation {
  readonly id: number
  readonly account: string
}

/** Our App on GitHub: who it is, where it is installed, and clients that speak for one installation. */
export interface App {
  identity(): Promise<AppIdentity>
  /** A client that speaks as the App itself: about its deliveries, not about any repository. */
  own(): Octokit
  /** Installations that are not suspended, of allowed accounts only. */
  installations(): Promise<readonly Installation[]>
  /** The installation that covers a repository, or undefined. Throws `not-permitted` for an account that is not allowed. */
  installationOf(repository: RepositoryName): Promise<Installation | undefined>
  /**
   * A client for one installation; its token reaches `repositoryIds` only, where given (at most 500).
   * Throws `not-permitted` when the account of the installation is not allowed: an event's word for it is not taken.
   */
  client(installation: number, repositoryIds?: readonly number[]): Promise<Octokit>
}

/** How long the account of an installation is believed; accounts are renamed rarely, tokens live an hour. */
const ACCOUNT_TTL_MS = 10 * 60 * 1000

/** Makes the App from its credentials. Nothing is asked of GitHub until the first call. */
export function openApp(options: AppOptions): App {
  const Client = clientClass(options)
  const credentials = { appId: options.appId, privateKey: options.privateKey, cache: tokenCache() }
  const app = new Client({ auth: credentials })
  const accounts = new Map<number, { readonly account: string; readonly until: number }>()
  let identity: Promise<AppIdentity> | undefined

  const remember = (id: number, account: string): Installation => {
    accounts.set(id, { account, until: Date.now() + ACCOUNT_TTL_MS })
    return { id, account }
  }
  const accountOf = async (id: number): Promise<string> => {
    const known = accounts.get(id)
    if (known && known.until > Date.now()) return known.account
    const { data } = await github(`read installation ${id}`, () =>
      app.rest.apps.getInstallation({ installation_id: id }),
    )
    return remember(id, accountLogin(data.account)).account
  }
  return {
    identity: () => {
      identity ??= readIdentity(app).catch(error => {
        identity = undefined
        throw error
      })
      return identity
    },
    own: () => app,
    installations: async () => {
      const all = await github('list the installations', () =>
        app.paginate(app.rest.apps.listInstallations, { per_page: 100 }),
      )
      return all
        .filter(one => !one.suspended_at && isAllowedAccount(options.allowedAccounts, accountLogin(one.account)))
        .map(one => remember(one.id, accountLogin(one.account)))
    },
    installationOf: async repository => {
      const found = await findInstallation(app, repository)
      if (!found) return undefined
      assertAllowed(found.account, options.allowedAccounts)
      return remember(found.id, found.account)
    },
    client: async (installation, repositoryIds) => {
      if (options.allowedAccounts) assertAllowed(await accountOf(installation), options.allowedAccounts)
      const throttle = { enabled: options.throttle ?? true, id: `installation-${installation}` }
      if (!repositoryIds) return new Client({ auth: { ...credentials, installationId: installation }, throttle })
      return new Client({ authStrategy: scopedAuth(app, installation, repositoryIds), throttle })
    },
  }
}

function assertAllowed(account: string, allowed: readonly string[] | undefined): void {
  if (isAllowedAccount(allowed, account)) return
  throw new BailiwickError(
    'not-permitted',
    `The App is installed on ${JSON.stringify(account)}, which is not served here`,
    {
      fix: 'Add the account to ALLOWED_ACCOUNTS, or uninstall the App there.',
    },
  )
}

type ClientOptions = NonNullable<ConstructorParameters<typeof ProbotOctokit>[0]>

function clientClass(options: AppOptions) {
  const quiet = () => {}
  const log = options.log ?? { debug: quiet, info: quiet, warn: quiet, error: quiet }
  const timeout = options.timeoutMs ?? 120_000
  const timedFetch = (input: string | URL | Request, init?: RequestInit) => {
    const signals = [AbortSignal.timeout(timeout), ...(init?.signal ? [init.signal] : [])]
    return fetch(input, { ...init, signal: AbortSignal.any(signals) })
  }
  return ProbotOctokit.defaults((instance: ClientOptions) => ({
    ...instance,
    ...(options.baseUrl ? { baseUrl: options.baseUrl.replace(/\/+$/, '') } : {}),
    log,
    request: { fetch: timedFetch, log },
    // a limit is the queue's matter: it knows when to come back and does not hold a worker meanwhile
    throttle: {
      enabled: options.throttle ?? true,
      ...instance.throttle,
      onRateLimit: () => false,
      onSecondaryRateLimit: () => false,
    },
    retry: { doNotRetry: [400, 401, 403, 404, 409, 410, 422, 429, 451], retries: options.readRetries ?? 1 },
  })).plugin(octokit => {
    // a POST that failed with 502 may have been done: what is written must be looked at again before it is repeated
    octokit.hook.before('request', request => {
      // a new object: the one that is there is shared by all requests
      if (request.method !== 'GET') request.request = { ...request.request, retries: 0 }
    })
    return {}
  })
}

async function readIdentity(app: Octokit): Promise<AppIdentity> {
  const { data } = await github('read who the App is', () => app.rest.apps.getAuthenticated())
  if (!data?.slug) throw new BailiwickError('github-unavailable', 'GitHub did not say who the App is')
  return { id: data.id, slug: data.slug }
}

async function findInstallation(app: Octokit, { owner, repo }: RepositoryName): Promise<Installation | undefined> {
  try {
    const { data } = await github(`find the installation of ${owner}/${repo}`, () =>
      app.rest.apps.getRepoInstallation({ owner, repo }),
    )
    return { id: data.id, account: accountLogin(data.account) }
  } catch (error) {
    if (error instanceof BailiwickError && error.code === 'git-missing') return undefined
    throw error
  }
}

function accountLogin(account: unknown): string {
  // an enterprise has a slug instead of a login; it never is on the list of accounts
  const login = typeof account === 'object' && account && 'login' in account ? account.login : undefined
  return typeof login === 'string' ? login : ''
}
