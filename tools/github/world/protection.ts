import type { Repository, User } from '../world.ts'
import type { Pull } from './issue.ts'

/** `appId` null: any app may report it. */
export interface CheckDemand {
  readonly context: string
  readonly appId: number | null
}

/** What must be before a pull request is merged. Owners by CODEOWNERS are told, and not enforced here. */
export interface ReviewDemand {
  readonly approvals: number
  readonly dismissStale: boolean
  readonly codeOwners: boolean
  readonly lastPush: boolean
  readonly resolved: boolean
  /** undefined: any. */
  readonly methods: readonly string[] | undefined
}

/** Classic protection of a branch. */
export interface Protection {
  readonly id: number
  readonly checks: readonly CheckDemand[]
  readonly strict: boolean
  readonly enforceAdmins: boolean
  readonly allowForcePushes: boolean
  readonly allowDeletions: boolean
  /** Whether people must come through a pull request; admins are free unless `enforceAdmins`. */
  readonly reviews: ReviewDemand | undefined
  readonly mergeQueue: boolean
  readonly createdAt: string
}

export interface BypassActor {
  readonly actor_id?: number | null
  readonly actor_type: 'Integration' | 'OrganizationAdmin' | 'RepositoryRole' | 'Team' | 'DeployKey' | 'User'
  readonly bypass_mode?: 'always' | 'pull_request' | 'exempt'
}

interface Names {
  readonly include?: readonly string[]
  readonly exclude?: readonly string[]
}

export interface RulesetConditions {
  readonly ref_name?: Names
  /** Of an organisation's: which repositories. */
  readonly repository_name?: Names & { readonly protected?: boolean }
  readonly repository_id?: { readonly repository_ids?: readonly number[] }
}

export interface Rule {
  readonly type: string
  readonly parameters?: Readonly<Record<string, unknown>>
}

/** A ruleset of a repository or of an organisation. */
export interface Ruleset {
  readonly id: number
  readonly source: Repository | User
  name: string
  target: 'branch' | 'tag' | 'push'
  enforcement: 'active' | 'evaluate' | 'disabled'
  bypassActors: readonly BypassActor[]
  conditions: RulesetConditions
  rules: readonly Rule[]
  readonly createdAt: string
  updatedAt: string
}

/** A pull request on its way through a merge queue. */
export interface QueueEntry {
  readonly pull: Pull
  readonly by: User
  /** What is tested: the branch, its commit, and what that stands on. Undefined until it is built. */
  group: { readonly ref: string; readonly head: string; readonly base: string } | undefined
}
