import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { announceInstallation } from './actions/installation.ts'
import { addDefaultLabels } from './actions/label.ts'
import { ObjectStore } from './git/store.ts'
import { type FileContent, putFile, writeTree } from './git/trees.ts'
import { emailOf } from './json/commit.ts'
import type { App, Installation, Permissions, Repository, Role, Team, User, World } from './world.ts'
import { now } from './world.ts'

export interface AppOptions {
  readonly slug?: string
  /** Default the slug. */
  readonly name?: string
  readonly owner?: User
  readonly externalUrl?: string
  readonly callbackUrls?: readonly string[]
  readonly permissions?: Permissions
  readonly events?: readonly string[]
  readonly webhookUrl?: string
  readonly webhookSecret?: string
  /** PEM; one is made when absent. */
  readonly privateKey?: string
}

export interface RepositoryOptions {
  readonly owner: string
  readonly name: string
  /** The first commit of the default branch; an empty repository without. */
  readonly files?: Readonly<Record<string, FileContent>>
  readonly defaultBranch?: string
  /** Default true: who has no role does not see it. */
  readonly private?: boolean
  /** Private, but for the members of the organization, who have no enterprise here. */
  readonly internal?: boolean
  readonly roles?: Readonly<Record<string, Role>>
  /** `owner/name` of which this is a fork: it begins with all its branches. */
  readonly forkOf?: string
}

/** What a team may do, by `owner/name`. */
type TeamRoles = Readonly<Record<string, Role>>

const ALL_PERMISSIONS: Permissions = {
  ...{ metadata: 'read', contents: 'write', pull_requests: 'write', issues: 'write' },
  ...{ checks: 'write', administration: 'read', members: 'read', merge_queues: 'read' },
}
const ALL_EVENTS = ['push', 'pull_request', 'issue_comment', 'issues', 'check_run']

let sharedKey: string | undefined

/** RSA takes a while, and which key it is does not matter: one per process. */
function anyKey(): string {
  sharedKey ??= generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }).privateKey
  return sharedKey
}

/** Who and what there is: people, organisations, apps, repositories. */
export function accounts(world: World) {
  function addUser(login: string, type: User['type'] = 'User'): User {
    const known = world.users.get(login.toLowerCase())
    if (known) return known
    const user: User = { id: world.nextId(), login, type }
    world.users.set(login.toLowerCase(), user)
    return user
  }

  function userNamed(login: string): User {
    const user = world.users.get(login.toLowerCase())
    if (!user) throw new Error(`there is no user ${login}: addUser first`)
    return user
  }

  /** Adds an organisation; its people are added where they are new. Members read its private repositories. */
  function addOrganization(
    login: string,
    people: { admins?: readonly string[]; members?: readonly string[] } = {},
  ): User {
    const organization = addUser(login, 'Organization')
    const members = world.members.get(login) ?? new Map<string, 'member' | 'admin'>()
    for (const name of people.members ?? []) members.set(addUser(name).login, 'member')
    for (const name of people.admins ?? []) members.set(addUser(name).login, 'admin')
    world.members.set(login, members)
    return organization
  }

  /** Adds a team of an organisation; its people become members of the organisation where they are not. */
  function addTeam(
    organization: string,
    name: string,
    members: readonly string[] = [],
    options: { maintainers?: readonly string[]; pending?: readonly string[]; parent?: string; roles?: TeamRoles } = {},
  ): Team {
    const { maintainers = [], pending = [], parent, roles = {} } = options
    addOrganization(organization, {
      members: [...members, ...maintainers].filter(each => !isMember(organization, each)),
    })
    for (const login of pending) addUser(login)
    const slug = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
    const team: Team = {
      ...{ id: world.nextId(), organization: userNamed(organization), name, slug, pending: new Set(pending) },
      members: new Map([
        ...members.map(login => [login, 'member'] as const),
        ...maintainers.map(login => [login, 'maintainer'] as const),
      ]),
      repositories: new Map(Object.entries(roles).map(([repo, role]) => [repositoryNamed(repo).id, role])),
      parent: parent === undefined ? undefined : world.teams.get(`${organization}/${parent}`.toLowerCase()),
      createdAt: now(),
    }
    world.teams.set(`${organization}/${slug}`.toLowerCase(), team)
    return team
  }

  const isMember = (organization: string, login: string) => world.members.get(organization)?.has(login) === true

  function addApp(options: AppOptions = {}): App {
    const slug = options.slug ?? 'bailiwick'
    const id = world.nextId()
    const app: App = {
      ...{
        id,
        slug,
        name: options.name ?? slug,
        clientId: `Iv23${id}`,
        clientSecret: randomBytes(20).toString('hex'),
        callbackUrls: options.callbackUrls ?? [],
        externalUrl: options.externalUrl ?? `https://${slug}.example`,
        owner: options.owner ?? addUser('app-owner'),
        bot: addUser(`${slug}[bot]`, 'Bot'),
      },
      ...{ permissions: { metadata: 'read', ...(options.permissions ?? ALL_PERMISSIONS) }, createdAt: now() },
      ...{ events: options.events ?? ALL_EVENTS, webhookUrl: options.webhookUrl },
      webhookSecret: options.webhookSecret ?? randomBytes(16).toString('hex'),
      get privateKey() {
        return options.privateKey ?? anyKey()
      },
    }
    world.apps.set(id, app)
    return app
  }

  /** Installs an app on an account, for all its repositories or only those named; sends `installation.created`. */
  function install(app: App, owner: string, repositories: 'all' | readonly string[] = 'all', by = owner): Installation {
    const account = userNamed(owner)
    const selected =
      repositories === 'all' ? 'all' : new Set(repositories.map(name => repositoryNamed(`${owner}/${name}`).id))
    const installation: Installation = {
      ...{ id: world.nextId(), app, account, repositories: selected, permissions: app.permissions, createdAt: now() },
      events: app.events,
      suspended: undefined,
    }
    world.installations.set(installation.id, installation)
    announceInstallation(world, installation, 'created', userNamed(by))
    return installation
  }

  /** Removes an installation: its tokens are refused from now on; sends `installation.deleted`. */
  function uninstall(installation: Installation, by = installation.account.login): void {
    world.installations.delete(installation.id)
    announceInstallation(world, installation, 'deleted', userNamed(by))
  }

  function repositoryNamed(name: string): Repository {
    const repository = world.repositories.get(name.toLowerCase())
    if (!repository) throw new Error(`there is no repository ${name}`)
    return repository
  }

  /** Adds a repository; an owner that is new becomes an organisation. Its first commit sends no event. */
  function addRepository(options: RepositoryOptions): Repository {
    const owner = world.users.get(options.owner.toLowerCase()) ?? addOrganization(options.owner)
    const parent = options.forkOf === undefined ? undefined : repositoryNamed(options.forkOf)
    const repository: Repository = {
      ...{ id: world.nextId(), owner, name: options.name, private: options.private ?? true, parent },
      internal: options.internal ?? false,
      ...{ archived: false, deleted: false },
      ...{ store: parent?.store ?? new ObjectStore(), refs: new Map(), lastNumber: 0 },
      defaultBranch: options.defaultBranch ?? parent?.defaultBranch ?? 'main',
      collaborators: new Map(Object.entries(options.roles ?? {})),
      ...{
        labels: new Map(),
        issues: new Map(),
        pulls: new Map(),
        comments: new Map(),
        activities: [],
        deployKeys: [],
        checkRuns: [],
        protection: new Map(),
      },
      ...{ checkSuites: new Map(), suitesByHead: new Map(), queues: new Map() },
      ...{ createdAt: now(), pushedAt: now() },
    }
    addDefaultLabels(world, repository)
    for (const login of repository.collaborators.keys()) addUser(login)
    for (const [ref, sha] of parent?.refs ?? []) if (ref.startsWith('refs/heads/')) repository.refs.set(ref, sha)
    if (options.files) firstCommit(repository, options.files)
    world.moved.delete(`${owner.login}/${repository.name}`.toLowerCase())
    world.repositories.set(`${owner.login}/${repository.name}`.toLowerCase(), repository)
    return repository
  }

  /** A personal token with which `login` may call the API. */
  function tokenOf(login: string): string {
    const token = `ghp_${randomBytes(18).toString('hex')}`
    world.tokens.set(token, { actor: { kind: 'user', user: userNamed(login) }, expires: Number.POSITIVE_INFINITY })
    return token
  }

  return {
    addUser,
    userNamed,
    addOrganization,
    addTeam,
    addApp,
    install,
    uninstall,
    addRepository,
    repositoryNamed,
    tokenOf,
  }
}

function firstCommit(repository: Repository, files: Readonly<Record<string, FileContent>>): void {
  const { store, owner } = repository
  const entries = new Map(Object.entries(files).map(([path, content]) => [path, putFile(store, content)]))
  const author = { name: owner.login, email: emailOf(owner), date: now() }
  const tree = writeTree(store, entries)
  const sha = store.putCommit({ tree, parents: [], author, committer: author, message: 'Initial commit' })
  repository.refs.set(`refs/heads/${repository.defaultBranch}`, sha)
}
