import type { Actor, CheckDemand, Protection, Repository, ReviewDemand, Role, Ruleset, World } from '../world.ts'
import { atLeast, roleOf } from '../world.ts'
import { matchesRef } from './ref-pattern.ts'
import { membersOf } from './team.ts'

/** What one source, classic protection or a ruleset, demands of a branch. */
export interface Demand {
  /** undefined is classic protection. */
  readonly ruleset: Ruleset | undefined
  readonly enforceAdmins: boolean
  readonly checks: readonly CheckDemand[]
  readonly strict: boolean
  readonly checksOnCreate: boolean
  /** Changes must come through a pull request. */
  readonly reviews: ReviewDemand | undefined
  readonly mergeQueue: boolean
  readonly forbids: ReadonlySet<'force-push' | 'deletion' | 'creation' | 'update'>
}

/** All that is demanded of a branch by that name, whether it exists or not; what is only evaluated is left out. */
export function demandsOn(world: World, repository: Repository, branch: string): Demand[] {
  const protection = repository.protection.get(branch)
  const rulesets = activeRulesets(world, repository, branch).map(ofRuleset)
  return protection ? [ofProtection(protection), ...rulesets] : rulesets
}

/** Rulesets of the repository and of its organisation that are active for a branch. */
export function activeRulesets(world: World, repository: Repository, branch: string): Ruleset[] {
  return rulesetsOf(world, repository).filter(
    ruleset => ruleset.enforcement === 'active' && ruleset.target === 'branch' && isMeant(ruleset, repository, branch),
  )
}

/** Rulesets of a repository, and those of its organisation that include it. */
export function rulesetsOf(world: World, repository: Repository): Ruleset[] {
  return [...world.rulesets.values()].filter(ruleset => {
    if (ruleset.source === repository) return true
    return ruleset.source === repository.owner && includesRepository(ruleset, repository)
  })
}

/** Whether a demand binds who moves the branch, by a push or through a pull request. */
export function binds(
  world: World,
  repository: Repository,
  demand: Demand,
  actor: Actor,
  throughPull: boolean,
): boolean {
  const { ruleset } = demand
  if (!ruleset) {
    const isAdmin = actor.kind === 'user' && roleOf(world, repository, actor.user) === 'admin'
    return !isAdmin || demand.enforceAdmins
  }
  return !ruleset.bypassActors.some(bypass => {
    if (bypass.bypass_mode === 'pull_request' && !throughPull) return false
    return isActor(world, repository, bypass, actor)
  })
}

/** Roles by the ids that bypass lists use. */
const ROLE_IDS: Readonly<Record<number, Role>> = { 1: 'read', 2: 'maintain', 3: 'triage', 4: 'write', 5: 'admin' }

function isActor(world: World, repository: Repository, bypass: Ruleset['bypassActors'][number], actor: Actor): boolean {
  const { actor_id: id, actor_type: type } = bypass
  if (type === 'Integration') return actor.kind === 'installation' && actor.app.id === id
  if (actor.kind !== 'user') return false
  if (type === 'User') return actor.user.id === id
  if (type === 'OrganizationAdmin') {
    return world.members.get(repository.owner.login)?.get(actor.user.login) === 'admin'
  }
  if (type === 'Team') {
    const team = [...world.teams.values()].find(each => each.id === id)
    return team !== undefined && membersOf(world, team).has(actor.user.login)
  }
  const role = ROLE_IDS[id ?? 0]
  return type === 'RepositoryRole' && role !== undefined && atLeast(roleOf(world, repository, actor.user), role)
}

function isMeant(ruleset: Ruleset, repository: Repository, branch: string): boolean {
  const names = ruleset.conditions.ref_name ?? {}
  const fits = (pattern: string) => matchesRef(pattern, branch, repository.defaultBranch)
  return (names.include ?? []).some(fits) && !(names.exclude ?? []).some(fits)
}

function includesRepository({ conditions }: Ruleset, repository: Repository): boolean {
  const { repository_name: names, repository_id: ids } = conditions
  if (ids) return (ids.repository_ids ?? []).includes(repository.id)
  const fits = (pattern: string) => pattern === '~ALL' || matchesRef(pattern, repository.name, '')
  return (names?.include ?? ['~ALL']).some(fits) && !(names?.exclude ?? []).some(fits)
}

function ofProtection(protection: Protection): Demand {
  const forbids = new Set<'force-push' | 'deletion'>()
  if (!protection.allowForcePushes) forbids.add('force-push')
  if (!protection.allowDeletions) forbids.add('deletion')
  const { enforceAdmins, checks, strict, reviews, mergeQueue } = protection
  return { ruleset: undefined, enforceAdmins, checks, strict, checksOnCreate: false, reviews, mergeQueue, forbids }
}

const FORBIDDEN = {
  non_fast_forward: 'force-push',
  deletion: 'deletion',
  creation: 'creation',
  update: 'update',
} as const

function ofRuleset(ruleset: Ruleset): Demand {
  const parametersOf = (type: string) => ruleset.rules.find(rule => rule.type === type)?.parameters ?? {}
  const has = (type: string) => ruleset.rules.some(rule => rule.type === type)
  const checks = parametersOf('required_status_checks')
  const reviews = parametersOf('pull_request')
  const forbids = Object.entries(FORBIDDEN).flatMap(([type, what]) => (has(type) ? [what] : []))
  return {
    ...{ ruleset, enforceAdmins: true, mergeQueue: has('merge_queue'), forbids: new Set(forbids) },
    checks: ((checks.required_status_checks ?? []) as { context: string; integration_id?: number }[]).map(check => ({
      ...{ context: check.context, appId: check.integration_id ?? null },
    })),
    strict: checks.strict_required_status_checks_policy === true,
    checksOnCreate: checks.do_not_enforce_on_create !== true,
    reviews: has('pull_request') ? reviewsOf(reviews) : undefined,
  }
}

function reviewsOf(parameters: Readonly<Record<string, unknown>>): ReviewDemand {
  const methods = parameters.allowed_merge_methods
  return {
    approvals: Number(parameters.required_approving_review_count ?? 0),
    dismissStale: parameters.dismiss_stale_reviews_on_push === true,
    codeOwners: parameters.require_code_owner_review === true,
    lastPush: parameters.require_last_push_approval === true,
    resolved: parameters.required_review_thread_resolution === true,
    methods: Array.isArray(methods) ? methods.map(String) : undefined,
  }
}
