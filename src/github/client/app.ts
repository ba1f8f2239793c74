import type { ProbotOctokit } from 'probot'
import { BailiwickError } from '../../base/errors.ts'
import { message } from '../../base/message.ts'
import { isAllowedAccount } from '../../process/environment.ts'
import {
  type ClientSettings,
  clientClass,
  GITHUB_PACE,
  LIMITS_ARE_THROWN,
  type ObservedResponse,
  observeRequests,
  type Pace,
  paceWrites,
  WriteTurns,
} from './client-class.ts'
import { githubError, nameErrors, statusOf, unlessMissing } from './github-error.ts'
import type { AppIdentity, Octokit, RepositoryName } from './octokit.ts'

/** A token lives for an hour; one that is about to end is not begun with. */
const TTL_MS = 55 * 60 * 1000

/**
 * Where all clients of an App keep their installation tokens: without it each client requests its own, and GitHub gives
 * an App 2,000 per hour. In memory only.
 */
function tokenCache() {
  const entries = new Map<string, { readonly value: string; readonly until: number }>()
  return {
    get(key: string): string {
      const entry = entries.get(key)
      // octokit takes any empty answer for none
      return entry && entry.until > Date.now() ? entry.value : ''
    },
    set(key: string, value: string): void {
      const now = Date.now()
      for (const [old, { until }] of entries) if (until <= now) entries.delete(old)
      entries.set(key, { value, until: now + TTL_MS })
    },
  }
}

interface AppOptions extends ClientSettings {
  readonly appId: number
  readonly privateKey: string
  /** Accounts whose installations are served; absent: all. */
  readonly allowedAccounts?: readonly string[] | undefined
  /** How writes of one installation follow each other; default what GitHub asks for. */
  readonly pace?: Pace | undefined
  /** Called with each answer of GitHub. */
  readonly onAnswer?: ((answer: ObservedResponse) => void) | undefined
}

interface Installation {
  readonly id: number
  readonly account: string
}

/** Our App on GitHub: who it is, where it is installed, and clients for one installation. */
export interface App {
  identity(): Promise<AppIdentity>
  /** A client authenticated as the App itself: for its deliveries, not for any repository. */
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
  /** A client that may read what the installation may, and change nothing. Throws like `client`. */
  reader(installation: number): Promise<Octokit>
  /**
   * A token that reads the content of these repositories of an installation (at most 500) and can do nothing else, with the
   * time at which it ends. Throws like `client`, and `not-permitted` where one of them is not of the installation.
   */
  contentToken(installation: number, repositoryIds: readonly number[]): Promise<{ token: string; expiresAt: string }>
  /** Whether the installation was granted to administer its repositories, by GitHub's current record. */
  mayAdminister(installation: number): Promise<boolean>
  /**
   * Runs with a client that administers one repository and does nothing else; its token is revoked afterwards.
   * Throws like `client`.
   */
  administer<T>(installation: number, repositoryId: number, run: (octokit: Octokit) => Promise<T>): Promise<T>
}

/** Makes the App from its credentials. Nothing is asked of GitHub until the first call. */
export function openApp(options: AppOptions): App {
  const Client = clientClass(options)
  const credentials = { appId: options.appId, privateKey: options.privateKey, cache: tokenCache() }
  const app = nameErrors(observeRequests(new Client({ auth: credentials }), options.onAnswer))
  const known = new KnownInstallations(app)
  const turns = new WriteTurns(options.pace ?? GITHUB_PACE)
  let identity: Promise<AppIdentity> | undefined

  const openClient = (auth: object, installation: number): Octokit => {
    const id = `installation-${installation}`
    const client = paceWrites(new Client({ ...auth, throttle: { ...LIMITS_ARE_THROWN, id } }), turns, id)
    return nameErrors(observeRequests(client, options.onAnswer, installation))
  }
  const clientWith = (installation: number, scope: TokenScope | undefined): Octokit => {
    const own = { ...credentials, installationId: installation }
    return openClient(scope ? { authStrategy: scopedAuth(app, installation, scope) } : { auth: own }, installation)
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
    installations: () => allInstallations(app, known, options.allowedAccounts),
    installationOf: async repository => {
      const { owner, repo } = repository
      const found = (await unlessMissing(app.rest.apps.getRepoInstallation({ owner, repo })))?.data
      if (!found) return undefined
      assertAllowed(accountLogin(found.account), options.allowedAccounts)
      return asInstallation(known.note(found))
    },
    client: async (installation, repositoryIds) => {
      if (options.allowedAccounts) assertAllowed((await known.of(installation)).account, options.allowedAccounts)
      return clientWith(installation, repositoryIds && { repositoryIds })
    },
    reader: async installation => {
      const { granted } = await served(known.of(installation), options)
      return clientWith(installation, { permissions: readPermissions(granted) })
    },
    contentToken: async (installation, repositoryIds) => {
      await served(known.of(installation), options)
      return makeToken(app, installation, repositoryIds, { contents: 'read' })
    },
    mayAdminister: async installation =>
      (await served(known.present(installation), options)).granted.administration === 'write',
    administer: async (installation, repositoryId, run) => {
      await served(known.of(installation), options)
      const { token } = await makeToken(app, installation, [repositoryId], { administration: 'write' })
      return untilRevoked(openClient({ auth: { token } }, installation), run)
    },
  }
}

async function served(found: Promise<KnownInstallation>, { allowedAccounts }: AppOptions): Promise<KnownInstallation> {
  const installation = await found
  assertAllowed(installation.account, allowedAccounts)
  return installation
}

/**
 * A new token of an installation for exactly these repositories and permissions (and `metadata: read`, which every token has).
 * Never without a list: GitHub would take that for all repositories.
 */
async function makeToken(
  app: Octokit,
  installation: number,
  repositoryIds: readonly number[],
  permissions: Readonly<{ administration?: 'write'; contents?: 'read' }>,
): Promise<{ token: string; expiresAt: string }> {
  if (repositoryIds.length === 0) throw new RangeError('a token for no repository would be one for all of them')
  const wanted = { installation_id: installation, repository_ids: [...repositoryIds], permissions }
  try {
    const { data } = await app.rest.apps.createInstallationAccessToken(wanted)
    return { token: data.token, expiresAt: data.expires_at }
  } catch (error) {
    throw githubError(message`create a token of installation ${installation}`, error)
  }
}

async function untilRevoked<T>(client: Octokit, run: (octokit: Octokit) => Promise<T>): Promise<T> {
  try {
    return await run(client)
  } finally {
    // it ends by itself within the hour where GitHub cannot be reached now
    await client.rest.apps.revokeInstallationAccessToken().catch(() => undefined)
  }
}

async function allInstallations(
  app: Octokit,
  known: KnownInstallations,
  allowed: readonly string[] | undefined,
): Promise<Installation[]> {
  const all = await app.paginate(app.rest.apps.listInstallations, { per_page: 100 })
  return all
    .filter(one => !one.suspended_at && isAllowedAccount(allowed, accountLogin(one.account)))
    .map(one => asInstallation(known.note(one)))
}

function assertAllowed(account: string, allowed: readonly string[] | undefined): void {
  if (isAllowedAccount(allowed, account)) return
  throw new BailiwickError(
    'not-permitted',
    `The App is installed on ${JSON.stringify(account)}, which this instance does not serve`,
    {
      fix: 'Add the account to ALLOWED_ACCOUNTS, or uninstall the App there.',
    },
  )
}

async function readIdentity(app: Octokit): Promise<AppIdentity> {
  const { data } = await app.rest.apps.getAuthenticated()
  if (!data?.slug) throw new BailiwickError('github-unavailable', 'GitHub did not return the identity of the App')
  return { id: data.id, slug: data.slug }
}

const asInstallation = ({ id, account }: KnownInstallation): Installation => ({ id, account })

/** What is known of an installation. */
interface KnownInstallation {
  readonly id: number
  readonly account: string
  readonly granted: Granted
}

/** How GitHub describes one. */
interface InstallationAnswer {
  readonly id: number
  readonly account: unknown
  readonly permissions?: Granted
}

/** How long an installation's account and permissions are cached; tokens live an hour. */
const KNOWN_MS = 10 * 60 * 1000

/** Cached accounts and permissions of installations. */
class KnownInstallations {
  readonly #app: InstanceType<typeof ProbotOctokit>
  readonly #known = new Map<number, KnownInstallation & { readonly until: number }>()

  constructor(app: InstanceType<typeof ProbotOctokit>) {
    this.#app = app
  }

  /** Caches an answer of GitHub. */
  note({ id, account, permissions }: InstallationAnswer): KnownInstallation {
    const until = Date.now() + KNOWN_MS
    const known = { id, account: accountLogin(account), granted: permissions ?? {}, until }
    this.#known.set(id, known)
    return known
  }

  /** What is known of one, requested where that is nothing or too old. Throws `git-missing` where there is none. */
  async of(id: number): Promise<KnownInstallation> {
    const known = this.#known.get(id)
    return known && known.until > Date.now() ? known : this.present(id)
  }

  /** GitHub's current record of one. Throws `git-missing` where there is none. */
  async present(id: number): Promise<KnownInstallation> {
    const { data } = await this.#app.rest.apps.getInstallation({ installation_id: id })
    return this.note(data)
  }
}

/** The login of an installation's account; '' for an enterprise, which has a slug and never is on the list of accounts. */
function accountLogin(account: unknown): string {
  const login = typeof account === 'object' && account && 'login' in account ? account.login : undefined
  return typeof login === 'string' ? login : ''
}

type AppClient = InstanceType<typeof ProbotOctokit>

interface RequestOptions {
  readonly headers: object
}

/** A token that is a second old may not have reached every machine of GitHub yet. */
const NEW_TOKEN_WAIT_MS = 1000

/** What a token is narrowed to; absent: all that the installation has. */
interface TokenScope {
  readonly repositoryIds?: readonly number[]
  readonly permissions?: Readonly<Record<string, 'read' | 'write'>>
}

/**
 * Authentication with a token that reaches only these repositories of an installation, with these permissions, so that a
 * job about one tenant cannot touch another's. Tokens are cached by the App's client, per scope.
 */
function scopedAuth(app: AppClient, installationId: number, { repositoryIds, permissions }: TokenScope) {
  const scope = {
    ...(repositoryIds ? { repositoryIds: [...repositoryIds] } : {}),
    ...(permissions ? { permissions: { ...permissions } } : {}),
  }
  const authorise = async (): Promise<string> => {
    const answer: unknown = await app.auth({ type: 'installation', installationId, ...scope })
    if (typeof answer === 'object' && answer && 'token' in answer) return String(answer.token)
    throw new TypeError('the App client did not answer with a token')
  }
  /** What octokit's core calls around each request. */
  const hook = async <O extends RequestOptions, R>(request: (options: O) => Promise<R>, options: O): Promise<R> => {
    const authorised = { ...options, headers: { ...options.headers, authorization: `token ${await authorise()}` } }
    try {
      return await request(authorised)
    } catch (error) {
      if (statusOf(error) !== 401) throw error
      await new Promise(resolve => setTimeout(resolve, NEW_TOKEN_WAIT_MS))
      return await request(authorised)
    }
  }
  return () => Object.assign(authorise, { hook })
}

/** What an installation was granted, as GitHub names it; `undefined` entries come from types only. */
type Granted = Readonly<Record<string, string | undefined>>

/** Of these we ask to read; others that an App may have (`workflows`) cannot be read. */
const READ = [
  'metadata',
  'contents',
  'pull_requests',
  'issues',
  'checks',
  'administration',
  'members',
  'merge_queues',
] as const

/** The same, for reading only; only granted permissions are requested: GitHub refuses any other token as a whole. */
function readPermissions(granted: Granted): Record<string, 'read'> {
  return Object.fromEntries(READ.filter(name => granted[name] !== undefined).map(name => [name, 'read']))
}
