import { pullPayload } from '../events/payloads.ts'
import { HttpError } from '../http/http-error.ts'
import { simpleCommitJson } from '../json/commit.ts'
import { now, type Pull, type QueueEntry, type Repository, type User, type World } from '../world.ts'
import { demandsOn } from './demands.ts'
import { mergeOf } from './mergeability.ts'
import { closePull, moveRef } from './move-ref.ts'
import { mayMerge, missingCheck } from './protection.ts'

/** Why a pull request leaves the queue, as `pull_request.dequeued` says it. */
type Reason =
  | 'MERGE'
  | 'MANUAL'
  | 'CI_FAILURE'
  | 'CI_TIMEOUT'
  | 'MERGE_CONFLICT'
  | 'BRANCH_PROTECTIONS'
  | 'UNKNOWN_REMOVAL_REASON'

/** Queues that are being moved on: what that causes must not move them on again. */
const busy = new WeakSet<QueueEntry[]>()

/**
 * Puts a pull request into the merge queue of its base: its group is built, checks are asked for, and it is merged when
 * they pass. Throws 422 where there is no queue, and what a merge would throw.
 */
export function enqueue(world: World, repository: Repository, pull: Pull, by: User): QueueEntry {
  const base = pull.base.ref
  if (!demandsOn(world, repository, base).some(demand => demand.mergeQueue)) {
    throw new HttpError(
      422,
      `Merge queue is not enabled for ${base}: protect it with mergeQueue, or a merge_queue rule`,
    )
  }
  if (pull.issue.state === 'closed') throw new HttpError(422, 'Pull request is closed')
  if (pull.draft) throw new HttpError(422, 'Pull request is in draft')
  const queue = repository.queues.get(base) ?? []
  if (queue.some(entry => entry.pull === pull)) throw new HttpError(422, 'Pull request is already in the queue')
  mayMerge(world, repository, pull, { kind: 'user', user: by }, { method: 'merge', byQueue: true })
  const entry: QueueEntry = { pull, by, group: undefined }
  queue.push(entry)
  repository.queues.set(base, queue)
  world.emit(repository, by, 'pull_request', pullPayload(world, repository, 'enqueued', pull))
  advanceQueue(world, repository, base)
  return entry
}

/** Takes a pull request out of the queue, if it is in it; the groups behind it are built anew. */
export function leaveQueue(world: World, repository: Repository, pull: Pull, by: User, reason: Reason): void {
  const queue = repository.queues.get(pull.base.ref)
  const entry = queue?.find(each => each.pull === pull)
  if (!queue || !entry) return
  drop(world, repository, queue, entry, by, reason)
  advanceQueue(world, repository, pull.base.ref)
}

/** A check of a commit changed: whatever waits for it goes on. */
export function checksChanged(world: World, repository: Repository, sha: string): void {
  for (const [base, queue] of repository.queues) {
    if (queue.some(entry => entry.group?.head === sha)) advanceQueue(world, repository, base)
  }
}

/** Builds the groups that are missing or stand on the wrong commit, and merges from the front what passed. */
export function advanceQueue(world: World, repository: Repository, base: string): void {
  const queue = repository.queues.get(base)
  if (!queue || busy.has(queue)) return
  busy.add(queue)
  try {
    do buildGroups(world, repository, queue, base)
    while (settleFront(world, repository, queue, base))
  } finally {
    busy.delete(queue)
  }
}

function buildGroups(world: World, repository: Repository, queue: QueueEntry[], base: string): void {
  let on = repository.refs.get(`refs/heads/${base}`)
  for (const entry of [...queue]) {
    if (on === undefined) return
    if (entry.group && entry.group.base !== on) destroy(world, repository, entry, base, 'invalidated')
    entry.group ??= build(world, repository, entry.pull, on)
    if (entry.group) on = entry.group.head
    else drop(world, repository, queue, entry, queueBot(world), 'MERGE_CONFLICT')
  }
}

/** Merges or drops the first entry; false while its checks are awaited. */
function settleFront(world: World, repository: Repository, queue: QueueEntry[], base: string): boolean {
  const [front] = queue
  if (!front?.group) return false
  const { head } = front.group
  const missing = demandsOn(world, repository, base)
    .map(demand => missingCheck(repository, demand.checks, head))
    .find(each => each !== undefined)
  if (missing && !missing.failed) return false
  const bot = queueBot(world)
  if (missing) {
    drop(world, repository, queue, front, bot, 'CI_FAILURE')
    return true
  }
  const { pull } = front
  pull.merged = { by: bot, at: now() }
  pull.mergeCommit = head
  pull.mergeable = null
  pull.issue.state = 'closed'
  queue.shift()
  repository.refs.delete(`refs/pull/${pull.issue.number}/merge`)
  moveRef(world, repository, `refs/heads/${base}`, head, bot, 'merge_queue_merge')
  announceDequeued(world, repository, pull, bot, 'MERGE')
  closePull(world, repository, pull, bot)
  destroy(world, repository, front, base, 'merged')
  return true
}

function build(world: World, repository: Repository, pull: Pull, on: string): QueueEntry['group'] {
  const bot = queueBot(world)
  const head = mergeOf(repository, pull, on, bot)
  if (head === undefined) return undefined
  const ref = `refs/heads/gh-readonly-queue/${pull.base.ref}/pr-${pull.issue.number}-${on}`
  const group = { ref, head, base: on }
  moveRef(world, repository, ref, head, bot)
  world.emit(repository, bot, 'merge_group', {
    action: 'checks_requested',
    ...groupJson(repository, group, pull.base.ref),
  })
  return group
}

function drop(
  world: World,
  repository: Repository,
  queue: QueueEntry[],
  entry: QueueEntry,
  by: User,
  reason: Reason,
): void {
  queue.splice(queue.indexOf(entry), 1)
  announceDequeued(world, repository, entry.pull, by, reason)
  destroy(world, repository, entry, entry.pull.base.ref, 'dequeued')
}

function announceDequeued(world: World, repository: Repository, pull: Pull, by: User, reason: Reason): void {
  world.emit(repository, by, 'pull_request', pullPayload(world, repository, 'dequeued', pull, { reason }))
}

function destroy(
  world: World,
  repository: Repository,
  entry: QueueEntry,
  base: string,
  reason: 'merged' | 'invalidated' | 'dequeued',
): void {
  const { group } = entry
  if (!group) return
  entry.group = undefined
  const bot = queueBot(world)
  moveRef(world, repository, group.ref, undefined, bot)
  world.emit(repository, bot, 'merge_group', { action: 'destroyed', reason, ...groupJson(repository, group, base) })
}

function groupJson(repository: Repository, group: NonNullable<QueueEntry['group']>, base: string) {
  const { head, ref } = group
  return {
    merge_group: {
      ...{ head_sha: head, head_ref: ref, base_sha: group.base, base_ref: `refs/heads/${base}` },
      head_commit: simpleCommitJson(repository.store.commit(head)!),
    },
  }
}

/** In whose name GitHub moves a queue. */
function queueBot(world: World): User {
  const login = 'github-merge-queue[bot]'
  const known = world.users.get(login)
  if (known) return known
  const bot: User = { id: 118344674, login, type: 'Bot' }
  world.users.set(login, bot)
  return bot
}
