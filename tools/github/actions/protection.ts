import { isAncestor } from '../git/graph.ts'
import { HttpError } from '../http/http-error.ts'
import {
  type Actor,
  atLeast,
  type CheckDemand,
  type CheckRun,
  type Pull,
  type Repository,
  type ReviewDemand,
  roleOf,
  type World,
} from '../world.ts'
import { binds, type Demand, demandsOn } from './demands.ts'

const SATISFIES = ['success', 'neutral', 'skipped']

/** Why the required checks do not hold for a commit; undefined when they do. */
export function missingCheck(
  repository: Repository,
  checks: readonly CheckDemand[],
  sha: string,
): { readonly why: string; readonly failed: boolean } | undefined {
  for (const { context, appId } of checks) {
    const run = latestRun(repository, sha, context, appId)
    if (!run) return { why: `Required status check "${context}" is expected.`, failed: false }
    if (run.status !== 'completed') return { why: `Required status check "${context}" is pending.`, failed: false }
    if (!SATISFIES.includes(run.conclusion ?? '')) {
      return { why: `Required status check "${context}" is failing.`, failed: true }
    }
  }
  return undefined
}

/** The newest run of that name: an older one that succeeded does not count, nor does one of another app. */
function latestRun(repository: Repository, sha: string, name: string, appId: number | null): CheckRun | undefined {
  return repository.checkRuns.findLast(
    run => run.headSha === sha && run.name === name && (appId === null || run.app.id === appId),
  )
}

/** Throws 422 when protection or a ruleset forbids this actor to move a branch so. A pull request's merge is asked elsewhere. */
export function mayPush(
  world: World,
  repository: Repository,
  branch: string,
  after: string | undefined,
  actor: Actor,
): void {
  if (branch.startsWith('gh-readonly-queue/')) throw new HttpError(422, `refs/heads/${branch} is read-only`)
  for (const demand of demandsOn(world, repository, branch)) {
    const why = refusal(world, repository, demand, { branch, after, actor })
    if (why === undefined) continue
    const rule = `Repository rule violations found\n\n${why}\n\n`
    const classic = `GH006: Protected branch update failed for refs/heads/${branch}. ${why}`
    throw new HttpError(422, demand.ruleset ? rule : classic)
  }
}

interface Move {
  readonly branch: string
  readonly after: string | undefined
  readonly actor: Actor
}

function refusal(world: World, repository: Repository, demand: Demand, { branch, after, actor }: Move) {
  const before = repository.refs.get(`refs/heads/${branch}`)
  const bound = binds(world, repository, demand, actor, false)
  // classic protection keeps admins too from what it forbids altogether
  const forbids = (what: Parameters<Demand['forbids']['has']>[0]) =>
    demand.forbids.has(what) && (bound || !demand.ruleset)
  if (before === undefined) {
    if (after === undefined || !demand.ruleset) return undefined
    if (forbids('creation')) return 'Cannot create ref due to creations being restricted.'
    return bound && demand.checksOnCreate ? missingCheck(repository, demand.checks, after)?.why : undefined
  }
  if (after === undefined) {
    if (!forbids('deletion')) return undefined
    return demand.ruleset ? 'Cannot delete this protected ref.' : 'Cannot delete this branch.'
  }
  if (forbids('force-push') && !isAncestor(repository.store, before, after)) return 'Cannot force-push to this branch.'
  if (!bound) return undefined
  if (forbids('update')) return 'Cannot update this protected ref.'
  if (demand.reviews) return 'Changes must be made through a pull request.'
  if (demand.mergeQueue) return 'Changes must be made through the merge queue'
  return missingCheck(repository, demand.checks, after)?.why
}

/** Throws 405 unless checks, reviews and rules let this actor merge. `byQueue`: the merge queue does it. */
export function mayMerge(
  world: World,
  repository: Repository,
  pull: Pull,
  actor: Actor,
  { method, byQueue }: { readonly method: string; readonly byQueue: boolean },
): void {
  for (const demand of demandsOn(world, repository, pull.base.ref)) {
    if (!binds(world, repository, demand, actor, true)) continue
    const why = whyNotMerge(world, repository, pull, demand, { method, byQueue })
    if (why === undefined) continue
    throw new HttpError(405, demand.ruleset ? `Repository rule violations found\n\n${why}\n\n` : why)
  }
}

function whyNotMerge(
  world: World,
  repository: Repository,
  pull: Pull,
  demand: Demand,
  { method, byQueue }: { readonly method: string; readonly byQueue: boolean },
): string | undefined {
  if (demand.mergeQueue && !byQueue) return 'Changes must be made through the merge queue'
  const missing = missingCheck(repository, demand.checks, pull.head.sha)
  if (missing) return missing.why
  if (demand.strict && !byQueue && !isAncestor(repository.store, pull.base.sha, pull.head.sha)) {
    return 'Head branch is not up to date with the base branch'
  }
  return demand.reviews && whyNotReviewed(world, repository, pull, demand.reviews, method)
}

function whyNotReviewed(
  world: World,
  repository: Repository,
  pull: Pull,
  wanted: ReviewDemand,
  method: string,
): string | undefined {
  if (wanted.methods && !wanted.methods.includes(method)) return `Merge method ${method} is not allowed on this branch.`
  const latest = new Map(
    pull.reviews
      .filter(({ state, user }) => state !== 'COMMENTED' && state !== 'PENDING' && user.type === 'User')
      .filter(({ user }) => atLeast(roleOf(world, repository, user), 'write'))
      .map(review => [review.user, review]),
  )
  const states = [...latest.values()]
  if (states.some(review => review.state === 'CHANGES_REQUESTED')) return 'Changes have been requested.'
  const approving = states.filter(review => review.state === 'APPROVED')
  if (approving.length < wanted.approvals) {
    const reviews = wanted.approvals === 1 ? 'review is' : 'reviews are'
    return `At least ${wanted.approvals} approving ${reviews} required by reviewers with write access.`
  }
  if (wanted.lastPush && !approving.some(review => review.user !== pull.pushedBy)) {
    return 'New changes require approval from someone other than the last pusher.'
  }
  const threads = pull.reviews.flatMap(review => review.comments).filter(comment => comment.inReplyTo === undefined)
  return wanted.resolved && threads.some(thread => !thread.isResolved)
    ? 'A conversation must be resolved before this pull request can be merged.'
    : undefined
}
