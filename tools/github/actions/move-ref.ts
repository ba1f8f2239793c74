import { pullPayload, pushPayload, ZERO } from '../events/payloads.ts'
import { isAncestor } from '../git/graph.ts'
import { type ActivityType, now, type Pull, type Repository, type User, type World } from '../world.ts'
import { requestSuites } from './check-suite.ts'
import { demandsOn } from './demands.ts'
import { recordEvent } from './issue-event.ts'
import { advanceQueue, leaveQueue } from './merge-queue.ts'
import { scheduleMergeability } from './mergeability.ts'
import { dismissReview } from './review.ts'

/**
 * Sets, creates or (with undefined) deletes a ref, whoever asked and whatever protects it, and lets everything follow:
 * the push event, pull requests from and to the branch, their test merges, and those that are merged by it.
 */
export function moveRef(
  world: World,
  repository: Repository,
  ref: string,
  after: string | undefined,
  by: User,
  why?: 'pr_merge' | 'merge_queue_merge',
): void {
  const before = repository.refs.get(ref)
  if (before === after) return
  const payload = pushPayload(world, repository, by, { ref, before, after })
  if (after === undefined) repository.refs.delete(ref)
  else repository.refs.set(ref, after)
  repository.pushedAt = now()
  world.emit(repository, by, 'push', payload)
  if (!ref.startsWith('refs/heads/')) return
  const type = why ?? activityType(repository, before, after)
  const [from, to] = [before ?? ZERO, after ?? ZERO]
  repository.activities.push({ id: world.nextId(), ref, before: from, after: to, actor: by, type, at: now() })
  const branch = ref.slice('refs/heads/'.length)
  for (const target of world.repositories.values()) {
    for (const pull of target.pulls.values()) {
      if (pull.issue.state === 'closed') continue
      if (pull.head.repository === repository && pull.head.ref === branch) followHead(world, target, pull, after, by)
      if (target === repository && pull.base.ref === branch) followBase(world, target, pull, after, by)
    }
  }
  if (after !== undefined) requestSuites(world, repository, by, { branch, before, after })
  advanceQueue(world, repository, branch)
}

function activityType(repository: Repository, before: string | undefined, after: string | undefined): ActivityType {
  if (before === undefined) return 'branch_creation'
  if (after === undefined) return 'branch_deletion'
  return isAncestor(repository.store, before, after) ? 'push' : 'force_push'
}

function followHead(world: World, target: Repository, pull: Pull, after: string | undefined, by: User): void {
  if (after === undefined) {
    closePull(world, target, pull, by)
    return
  }
  leaveQueue(world, target, pull, by, 'UNKNOWN_REMOVAL_REASON')
  const before = pull.head.sha
  pull.head.sha = after
  pull.pushedBy = by
  pull.issue.updatedAt = now()
  target.refs.set(`refs/pull/${pull.issue.number}/head`, after)
  scheduleMergeability(world, target, pull)
  world.emit(target, by, 'pull_request', pullPayload(world, target, 'synchronize', pull, { before, after }))
  dismissStale(world, target, pull, by)
}

/** Where the base demands it, a push takes the approvals that were given before. */
function dismissStale(world: World, target: Repository, pull: Pull, by: User): void {
  if (!demandsOn(world, target, pull.base.ref).some(demand => demand.reviews?.dismissStale)) return
  for (const review of pull.reviews) {
    if (review.state === 'APPROVED') dismissReview(world, target, pull, review, by)
  }
}

function followBase(world: World, target: Repository, pull: Pull, after: string | undefined, by: User): void {
  if (after === undefined) {
    if (!leadOn(world, target, pull, by)) closePull(world, target, pull, by)
    return
  }
  const contained = isAncestor(target.store, pull.head.sha, after)
  pull.base.sha = after
  if (contained) {
    // pushed to the base by hand: GitHub counts the pull request as merged
    pull.merged = { by, at: now() }
    pull.mergeCommit = after
    closePull(world, target, pull, by)
    return
  }
  scheduleMergeability(world, target, pull)
}

/**
 * A base that was merged itself and is deleted leaves its pull requests to the branch that it was merged into. It stands in
 * the timeline only, no event is sent: https://github.com/orgs/community/discussions/200245
 */
function leadOn(world: World, target: Repository, pull: Pull, by: User): boolean {
  const merged = [...target.pulls.values()].findLast(
    one => one.merged !== undefined && one.head.repository === target && one.head.ref === pull.base.ref,
  )
  const sha = merged && target.refs.get(`refs/heads/${merged.base.ref}`)
  if (!merged || sha === undefined) return false
  pull.base.ref = merged.base.ref
  pull.base.sha = sha
  pull.issue.updatedAt = now()
  recordEvent(world, pull.issue, 'automatic_base_change_succeeded', by)
  scheduleMergeability(world, target, pull)
  return true
}

/** Closes a pull request and says so. */
export function closePull(world: World, repository: Repository, pull: Pull, by: User): void {
  leaveQueue(world, repository, pull, by, 'MANUAL')
  pull.issue.state = 'closed'
  pull.issue.closedAt = now()
  pull.issue.updatedAt = pull.issue.closedAt
  if (pull.merged) recordEvent(world, pull.issue, 'merged', by)
  recordEvent(world, pull.issue, 'closed', by)
  world.emit(repository, by, 'pull_request', pullPayload(world, repository, 'closed', pull))
}
