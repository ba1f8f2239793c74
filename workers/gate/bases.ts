import { BailiwickError } from '../../src/base/errors.ts'
import { mayLeadTo } from '../../src/fleet/model/source-access.ts'
import type { GitHubRepository } from '../../src/github/client/octokit.ts'
import { readBranchProtection, readBranchRules } from '../../src/github/protection.ts'
import type { Queue } from '../../src/receive/queue.ts'
import { type Base, checkNames, isTenancyCheck, type NamedCheck } from '../../src/verdict/check-names.ts'
import { readFleets, type StandingFleet } from '../fleets/evaluate-revision-set.ts'
import type { Case } from '../fleets/worker-context.ts'

/** The gated bases of one repository, as they are now. */
export interface RepositoryBases {
  /** Branches that a fleet follows or lists. */
  readonly followed: readonly string[]
  /** The checks of a head of pull requests into these branches; none if none of them is gated. */
  checksOf(aims: readonly string[]): Promise<readonly NamedCheck[]>
}

/** Reads which bases of a repository are gated. `fleets`: the present fleets, if the caller has read them. */
export async function readBases(subject: Case, fleets?: readonly StandingFleet[]): Promise<RepositoryBases> {
  const { context, installation, repository } = subject
  const standing = fleets ?? (await readFleets(context, installation))
  const { url, defaultBranch } = repository
  const followed = followedIn(standing, url)
  // a platform node that could not be rendered may follow any branch of it
  const anyBranch = standing.some(({ hides }) => mayLeadTo(hides, url))
  const counting = anyBranch ? [...followed, defaultBranch] : followed
  // read each time: outdated rules must not publish a passing check
  const readBase = async (branch: string): Promise<Base> => ({
    branch,
    isDefault: branch === defaultBranch,
    followed: anyBranch || followed.includes(branch),
    required: await requiredNames(subject, branch),
  })
  return {
    followed,
    checksOf: async aims => checkNames(await Promise.all([...new Set([...counting, ...aims])].map(readBase)), aims),
  }
}

/** Branches of a repository that these fleets follow or list, their own included. */
function followedIn(fleets: readonly StandingFleet[], url: string): string[] {
  const branches = fleets.flatMap(({ place, gated = [] }) => {
    const own = { url: place.repository.url, branch: place.branch }
    return [own, ...gated].filter(one => one.url === url).map(({ branch }) => branch)
  })
  return [...new Set(branches)].sort()
}

/**
 * Reads which of our checks GitHub's effective rules require on a branch, by rulesets of repository, organization and
 * enterprise, and branch protection. Undefined if GitHub does not show the rules to the App. Cached until forgetRules.
 */
async function requiredNames(subject: Case, branch: string): Promise<readonly string[] | undefined> {
  const { context, installation, repository } = subject
  const ask = () => askNames(subject, branch)
  const generation = await context.queue.entries(keyOf(installation.id))
  if (Number.isNaN(generation)) return ask()
  return context.memory.recallAt(repository, `rules ${generation}`, `${repository.url} ${branch}`, ask)
}

/** Drops the cached rules of an installation in every process, after a change or a long time. */
export async function forgetRules(queue: Pick<Queue, 'withLock'>, installation: number): Promise<void> {
  await queue.withLock(keyOf(installation), async () => undefined)
}

const keyOf = (installation: number) => `rules of ${installation}`

async function askNames(repository: GitHubRepository, branch: string) {
  try {
    const [rules, { layer, hidden }] = await Promise.all([
      readBranchRules(repository, branch),
      readBranchProtection(repository, branch),
    ])
    if (hidden && !layer) return undefined
    const checks = [...rules, ...(layer ? [layer] : [])].flatMap(one => one.checks)
    return [...new Set(checks.map(({ context }) => context).filter(isTenancyCheck))].sort()
  } catch (error) {
    if (error instanceof BailiwickError && error.code === 'not-permitted') return undefined
    throw error
  }
}

/** A branch that a fleet reads, at its present commit. */
export interface StandingHead {
  readonly url: string
  readonly branch: string
  readonly commit: string
}

/**
 * Every branch that these fleets read, their own included, once each. Tags and commits are left out because they do not
 * move.
 */
export function standingHeads(fleets: readonly StandingFleet[]): StandingHead[] {
  const heads = fleets.flatMap(headsOf)
  return [...new Map(heads.map(head => [headKey(head), head])).values()]
}

/**
 * The branches that decide about a merge into a branch: it, and the fleets that read it or may read it unseen, or all
 * that a fleet's own branch reads.
 */
export function headsThatDecide(
  fleets: readonly StandingFleet[],
  target: { readonly url: string; readonly branch: string },
): StandingHead[] {
  const isTarget = (head: StandingHead) => head.url === target.url && head.branch === target.branch
  const deciding = fleets.flatMap(fleet => {
    const [own, ...sources] = headsOf(fleet)
    if (own === undefined) return []
    if (isTarget(own)) return [own, ...sources]
    const mayRead = fleet.isDark || mayLeadTo(fleet.hides, target.url)
    return mayRead || sources.some(isTarget) ? [own, ...sources.filter(isTarget)] : []
  })
  return [...new Map(deciding.map(head => [headKey(head), head])).values()]
}

/** The key of a head. */
export function headKey({ url, branch, commit }: StandingHead): string {
  return JSON.stringify([url, branch, commit])
}

function headsOf({ place, commit, sources }: StandingFleet): StandingHead[] {
  const own = { url: place.repository.url, branch: place.branch, commit }
  const followed = sources.flatMap(source => {
    // one that only a tenant's declaration leads to gets no verdict of its own
    if (!('commit' in source) || source.lent) return []
    const { branch, ...other } = source.ref
    const isBranch = branch !== undefined && Object.values(other).every(value => value === undefined)
    return isBranch ? [{ url: source.url, branch, commit: source.commit }] : []
  })
  return [own, ...followed]
}
