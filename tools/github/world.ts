import type { OAuthState } from './actions/oauth.ts'
import { membersOf, teamRole } from './actions/team.ts'
import type { ObjectStore } from './git/store.ts'
import type { CheckRun, CheckSuite } from './world/check.ts'
import type { Comment, Issue, Label, Pull } from './world/issue.ts'
import type { Protection, QueueEntry, Ruleset } from './world/protection.ts'

export type * from './world/check.ts'
export type * from './world/issue.ts'
export type * from './world/protection.ts'

export type Role = 'none' | 'read' | 'triage' | 'write' | 'maintain' | 'admin'
const ROLES: readonly Role[] = ['none', 'read', 'triage', 'write', 'maintain', 'admin']

export interface User {
  readonly id: number
  readonly login: string
  readonly type: 'User' | 'Organization' | 'Bot'
}

export type Permissions = Readonly<Record<string, 'read' | 'write' | 'admin'>>

export interface App {
  readonly id: number
  readonly slug: string
  readonly name: string
  readonly clientId: string
  readonly clientSecret: string
  /** Where people may be sent back to after they let it act for them; any address when there is none. */
  readonly callbackUrls: readonly string[]
  readonly externalUrl: string
  readonly owner: User
  readonly bot: User
  /** What it asks for; an installation has what was granted. */
  permissions: Permissions
  events: readonly string[]
  webhookSecret: string
  webhookUrl: string | undefined
  /** PEM; made when first asked for. */
  readonly privateKey: string
  readonly createdAt: string
}

export interface Installation {
  readonly id: number
  readonly app: App
  readonly account: User
  repositories: 'all' | Set<number>
  permissions: Permissions
  events: readonly string[]
  /** While it is, its tokens are refused and nothing is sent. */
  suspended: { readonly by: User; readonly at: string } | undefined
  readonly createdAt: string
}

export type ActivityType =
  | 'push'
  | 'force_push'
  | 'branch_creation'
  | 'branch_deletion'
  | 'pr_merge'
  | 'merge_queue_merge'

/** One move of a branch. */
export interface Activity {
  readonly id: number
  readonly ref: string
  readonly before: string
  readonly after: string
  readonly actor: User
  readonly type: ActivityType
  readonly at: string
}

export interface DeployKey {
  readonly id: number
  readonly title: string
  readonly key: string
  readonly readOnly: boolean
  readonly createdAt: string
  /** Null until something reads with it. */
  lastUsed: string | null
}

export interface Repository {
  readonly id: number
  owner: User
  name: string
  private: boolean
  /** A private one that every member of its enterprise may read. */
  internal: boolean
  archived: boolean
  deleted: boolean
  readonly parent: Repository | undefined
  readonly store: ObjectStore
  /** Full ref names ('refs/heads/main', 'refs/pull/1/merge') to commits. */
  readonly refs: Map<string, string>
  readonly collaborators: Map<string, Role>
  readonly deployKeys: DeployKey[]
  defaultBranch: string
  lastNumber: number
  /** By lower-case name. */
  readonly labels: Map<string, Label>
  readonly issues: Map<number, Issue>
  readonly pulls: Map<number, Pull>
  readonly comments: Map<number, Comment>
  /** Moves of branches, oldest first. */
  readonly activities: Activity[]
  readonly checkRuns: CheckRun[]
  /** Oldest first. */
  readonly checkSuites: Map<number, CheckSuite>
  /** By app id and commit, with a space between. */
  readonly suitesByHead: Map<string, CheckSuite>
  readonly protection: Map<string, Protection>
  /** The merge queue of each base branch, first in first out. */
  readonly queues: Map<string, QueueEntry[]>
  readonly createdAt: string
  pushedAt: string
}

/** Who makes a call. */
export type Actor =
  | { readonly kind: 'anonymous' }
  /** With `app` it is an app that acts in the person's name, where it is installed and both may. */
  | { readonly kind: 'user'; readonly user: User; readonly app?: App }
  | { readonly kind: 'app'; readonly app: App }
  | InstallationActor

export interface InstallationActor {
  readonly kind: 'installation'
  readonly app: App
  readonly installation: Installation
  readonly permissions: Permissions
  readonly repositories: 'all' | ReadonlySet<number>
}

/**
 * Says to the apps that something happened; the payload is built by the caller but for repository, sender, installation.
 * With `only` no other app hears of it.
 */
export type Emit = (
  repository: Repository,
  sender: User,
  event: string,
  payload: Record<string, unknown>,
  only?: App,
) => void

export interface Team {
  readonly id: number
  readonly organization: User
  readonly name: string
  readonly slug: string
  readonly parent: Team | undefined
  readonly members: Map<string, 'member' | 'maintainer'>
  /** Invited, and not yet in. */
  readonly pending: Set<string>
  /** What the team may do, by the repository's id. */
  readonly repositories: Map<number, Role>
  readonly createdAt: string
}

/** All state of one server. */
export interface World {
  /** Base address of the API, without a slash at the end. */
  url: string
  readonly users: Map<string, User>
  /** By lower-case `owner/name`. */
  readonly repositories: Map<string, Repository>
  /** Old addresses, lower-case, to the ids of what was there. */
  readonly moved: Map<string, number>
  readonly apps: Map<number, App>
  readonly installations: Map<number, Installation>
  readonly tokens: Map<string, { readonly actor: Actor; readonly expires: number }>
  /** Logins of organizations that forbid deploy keys, as new ones do. */
  readonly noDeployKeys: Set<string>
  readonly members: Map<string, Map<string, 'member' | 'admin'>>
  /** By lower-case `organisation/slug`. */
  readonly teams: Map<string, Team>
  readonly rulesets: Map<number, Ruleset>
  readonly mergeabilityDelayMs: number
  /** The number of comments that a pull request gives itself is one of before the first. */
  lateCounts: boolean
  readonly timers: Set<NodeJS.Timeout>
  readonly oauth: OAuthState
  /** Who is signed in in a browser that says nothing else. */
  signedIn: string | undefined
  emit: Emit
  /** The same for what concerns an organisation and no repository. */
  /** To one app, whether it subscribed or not: what every app hears of its installations. */
  emitToInstallation(installation: Installation, sender: User, event: string, payload: Record<string, unknown>): void
  emitForAccount(account: User, sender: User, event: string, payload: Record<string, unknown>): void
  nextId(): number
}

/** The time as GitHub writes it: whole seconds. */
export function now(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, 'Z')
}

/** The user in whose name an actor writes. Throws for an app without an installation: it cannot write. */
export function senderOf(actor: Actor): User {
  if (actor.kind === 'user') return actor.user
  if (actor.kind === 'installation') return actor.app.bot
  throw new Error(`${actor.kind} writes nothing`)
}

/** The app through which an actor writes. */
export const appOf = (actor: Actor): App | undefined =>
  actor.kind === 'installation' || actor.kind === 'user' ? actor.app : undefined

export const fullName = (repository: Repository): string => `${repository.owner.login}/${repository.name}`

/** What a person may do in a repository: owner and organisation admins everything, others what they or their teams got. */
export function roleOf(world: World, repository: Repository, user: User): Role {
  const { owner } = repository
  const membership = world.members.get(owner.login)?.get(user.login)
  if (user.id === owner.id || membership === 'admin') return 'admin'
  const roles: Role[] = [repository.collaborators.get(user.login) ?? 'none']
  if (!repository.private || membership) roles.push('read')
  for (const team of world.teams.values()) {
    if (team.organization === owner && membersOf(world, team).has(user.login)) roles.push(teamRole(team, repository))
  }
  return roles.reduce((best, role) => (atLeast(role, best) ? role : best))
}

export const atLeast = (role: Role, wanted: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(wanted)
