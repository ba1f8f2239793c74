import { BailiwickError } from '../base/errors.ts'
import type { WantedRuleset } from '../verdict/branch-ruleset.ts'
import type { ProtectionLayer } from '../verdict/evaluate-protection.ts'
import { unlessMissing } from './client/github-error.ts'
import type { GitHubRepository, Octokit } from './client/octokit.ts'

/** A ruleset as a whole; `bypass` undefined: GitHub shows it only to who may change it. */
export interface Ruleset {
  readonly id: number
  readonly name: string
  /** Whose it is: `Repository`, `Organization`, `Enterprise`. */
  readonly of: string
  readonly enforcement: 'disabled' | 'active' | 'evaluate'
  /** Patterns of `refs/heads/...`, `~ALL`, `~DEFAULT_BRANCH`. */
  readonly include: readonly string[]
  readonly exclude: readonly string[]
  /** Contexts of the checks that it requires. */
  readonly contexts: readonly string[]
  readonly bypass: readonly string[] | undefined
}

/** The active rules of one ruleset that apply to a branch. */
interface BranchRules extends Omit<ProtectionLayer, 'kind' | 'name' | 'bypass'> {
  readonly ruleset: number
}

type Rule = Awaited<ReturnType<Octokit['rest']['repos']['getBranchRules']>>['data'][number]

/** What rulesets of the repository, the organisation and the enterprise ask of a branch; metadata: read is enough. */
export async function readBranchRules(
  { octokit, owner, repo }: GitHubRepository,
  branch: string,
): Promise<BranchRules[]> {
  // a GitHub Enterprise Server from before there were rulesets answers 404
  const rules = await unlessMissing(
    octokit.paginate(octokit.rest.repos.getBranchRules, { owner, repo, branch, per_page: 100 }),
  )
  const byRuleset = Map.groupBy(rules ?? [], rule => rule.ruleset_id ?? 0)
  return [...byRuleset].map(([ruleset, own]) => rulesOf(ruleset, own))
}

function rulesOf(ruleset: number, rules: readonly Rule[]): BranchRules {
  const has = (type: Rule['type']) => rules.some(rule => rule.type === type)
  const required = rules.flatMap(rule => (rule.type === 'required_status_checks' ? (rule.parameters ?? []) : []))
  return {
    ruleset,
    of: rules[0]?.ruleset_source_type ?? 'Repository',
    checks: required.flatMap(one =>
      one.required_status_checks.map(({ context, integration_id: app }) => ({ context, app: app ?? null })),
    ),
    strict: required.some(one => one.strict_required_status_checks_policy),
    mergeQueue: has('merge_queue'),
    pullRequest: has('pull_request'),
    forbidsForcePush: has('non_fast_forward'),
    forbidsDeletion: has('deletion'),
  }
}

/** One ruleset; undefined where it is gone meanwhile. */
export async function readRuleset(
  { octokit, owner, repo }: GitHubRepository,
  id: number,
): Promise<Ruleset | undefined> {
  const found = await unlessMissing(
    octokit.rest.repos.getRepoRuleset({ owner, repo, ruleset_id: id, includes_parents: true }),
  )
  if (!found) return undefined
  const { data } = found
  const names = data.conditions && 'ref_name' in data.conditions ? data.conditions.ref_name : undefined
  return {
    ...{ id, name: data.name, of: data.source_type ?? 'Repository', enforcement: data.enforcement },
    ...{ include: names?.include ?? [], exclude: names?.exclude ?? [] },
    contexts: (data.rules ?? []).flatMap(rule =>
      rule.type === 'required_status_checks'
        ? (rule.parameters?.required_status_checks.map(one => one.context) ?? [])
        : [],
    ),
    bypass: data.bypass_actors?.map(bypassWords),
  }
}

/** Numbers of the rulesets for branches that only report what they would do, those of the organisation too. */
export async function listEvaluatedRulesets(repository: GitHubRepository): Promise<number[]> {
  const found = await unlessMissing(listAll(repository, true))
  return (found ?? [])
    .filter(one => one.enforcement === 'evaluate' && (one.target ?? 'branch') === 'branch')
    .map(one => one.id)
}

/**
 * Makes the repository's own ruleset of this name what is wanted: made where there is none, replaced where there is one, whose
 * branches stay. Throws `not-permitted` without the permission administration: write.
 */
export async function setRuleset({ octokit, owner, repo }: GitHubRepository, wanted: WantedRuleset): Promise<void> {
  const present = await listAll({ octokit, owner, repo }, false)
  const own = present.find(one => one.name === wanted.name && (one.source_type ?? 'Repository') === 'Repository')
  if (!own) {
    await octokit.rest.repos.createRepoRuleset({ owner, repo, ...wanted })
    return
  }
  const before = (await readRuleset({ octokit, owner, repo }, own.id))?.include ?? []
  const include = [...new Set([...before, ...wanted.conditions.ref_name.include])].sort()
  const conditions = { ref_name: { include, exclude: [] } }
  await octokit.rest.repos.updateRepoRuleset({ owner, repo, ruleset_id: own.id, ...wanted, conditions })
}

/** Takes branches out of the repository's own ruleset of a name; one that is about no branch any more is deleted. */
export async function releaseBranches(
  { octokit, owner, repo }: GitHubRepository,
  name: string,
  branches: readonly string[],
): Promise<void> {
  const present = await listAll({ octokit, owner, repo }, false)
  const own = present.find(one => one.name === name && (one.source_type ?? 'Repository') === 'Repository')
  const found = own && (await readRuleset({ octokit, owner, repo }, own.id))
  if (!found) return
  const include = found.include.filter(pattern => !branches.some(branch => pattern === `refs/heads/${branch}`))
  if (include.length === found.include.length) return
  const place = { owner, repo, ruleset_id: found.id }
  const conditions = { ref_name: { include, exclude: [...found.exclude] } }
  if (include.length === 0) await octokit.rest.repos.deleteRepoRuleset(place)
  else await octokit.rest.repos.updateRepoRuleset({ ...place, conditions })
}

function listAll({ octokit, owner, repo }: GitHubRepository, parents: boolean) {
  const list = octokit.rest.repos.getRepoRulesets
  return octokit.paginate(list, { owner, repo, includes_parents: parents, per_page: 100 })
}

/** Numbers of the built-in roles: GitHub's OpenAPI text of repository-ruleset-bypass-actor, and its documentation. */
const ROLES: Readonly<Record<number, string>> = { 2: 'maintain', 4: 'write', 5: 'admin' }

interface Actor {
  readonly actor_id?: number | null
  readonly actor_type: string
  readonly bypass_mode?: string
}

function bypassWords({ actor_id: id, actor_type: type, bypass_mode: mode }: Actor): string {
  const who: Readonly<Record<string, string>> = {
    OrganizationAdmin: 'every owner of the organization',
    RepositoryRole: `everyone with the role ${ROLES[id ?? 0] ?? `number ${id}`}`,
    Integration: `the App with the ID ${id}`,
    Team: `the team with the ID ${id}`,
    User: `the user with the ID ${id}`,
    DeployKey: 'every deploy key',
  }
  return `${who[type] ?? 'someone'}${mode === 'pull_request' ? ' (by pull request only)' : ''}`
}

/** The branch protection of one branch; `hidden`: GitHub shows the App not all of it. */
interface BranchProtection {
  readonly layer?: ProtectionLayer
  readonly hidden: boolean
}

/**
 * Reads the classic protection of a branch, whichever pattern it comes from. Without the permission administration:
 * read (or on a plan without protection) it takes what the branch itself shows: required checks, not the rest.
 */
export async function readBranchProtection(
  { octokit, owner, repo }: GitHubRepository,
  branch: string,
): Promise<BranchProtection> {
  try {
    const found = await unlessMissing(octokit.rest.repos.getBranchProtection({ owner, repo, branch }))
    return found ? { layer: layerOf(found.data), hidden: false } : { hidden: false }
  } catch (error) {
    if (!(error instanceof BailiwickError) || error.code !== 'not-permitted') throw error
  }
  const found = await unlessMissing(octokit.rest.repos.getBranch({ owner, repo, branch }))
  const seen = found?.data.protection
  if (!found?.data.protected || !seen?.required_status_checks) return { hidden: found?.data.protected ?? false }
  return {
    hidden: true,
    layer: {
      ...{ kind: 'protection', name: '', of: 'Repository', checks: checksOf(seen.required_status_checks) },
      ...{ strict: undefined, mergeQueue: false, pullRequest: undefined },
      ...{ forbidsForcePush: undefined, forbidsDeletion: undefined, bypass: undefined },
    },
  }
}

/** All that protects a branch, and whether GitHub hides a part of it; `readOne` reads the ruleset of a rule, or leaves it. */
export async function readLayers(
  repository: GitHubRepository,
  branch: string,
  readOne: (ruleset: number, checks: ProtectionLayer['checks']) => Promise<Ruleset | undefined>,
): Promise<{ readonly layers: ProtectionLayer[]; readonly hidden: boolean }> {
  const { layer, hidden } = await readBranchProtection(repository, branch)
  const layers = layer ? [layer] : []
  for (const { ruleset: id, ...rules } of await readBranchRules(repository, branch)) {
    const ruleset = await readOne(id, rules.checks)
    layers.push({ ...rules, kind: 'ruleset', name: ruleset?.name ?? `#${id}`, bypass: ruleset?.bypass })
  }
  return { layers, hidden }
}

type Answer = Awaited<ReturnType<Octokit['rest']['repos']['getBranchProtection']>>['data']

function layerOf(answer: Answer): ProtectionLayer {
  return {
    ...{ kind: 'protection', name: '', of: 'Repository' },
    checks: answer.required_status_checks ? checksOf(answer.required_status_checks) : [],
    strict: answer.required_status_checks?.strict ?? false,
    mergeQueue: false,
    pullRequest: answer.required_pull_request_reviews !== undefined,
    forbidsForcePush: answer.allow_force_pushes?.enabled !== true,
    forbidsDeletion: answer.allow_deletions?.enabled !== true,
    bypass: answer.enforce_admins?.enabled === true ? [] : ['every administrator of the repository'],
  }
}

interface RequiredChecks {
  readonly contexts: readonly string[]
  readonly checks?: readonly { readonly context: string; readonly app_id: number | null }[]
}

/** `contexts` names the same checks without the Apps that may answer. -1 is any App, as is null (endpoint docs). */
function checksOf({ contexts, checks = [] }: RequiredChecks): ProtectionLayer['checks'] {
  const named = checks.map(({ context, app_id: app }) => ({ context, app: app === -1 ? null : app }))
  const more = contexts.filter(context => !named.some(one => one.context === context))
  return [...named, ...more.map(context => ({ context, app: null }))]
}
