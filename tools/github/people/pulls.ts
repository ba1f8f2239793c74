import { editPull, setDraft } from '../actions/edit-pull.ts'
import type { NewText } from '../actions/issue.ts'
import { mergePull, pullNumbered } from '../actions/merge-pull.ts'
import { enqueue, leaveQueue } from '../actions/merge-queue.ts'
import { closePull } from '../actions/move-ref.ts'
import { openPull, reopenPull } from '../actions/pull.ts'
import { HttpError } from '../http/http-error.ts'
import type { Pull, QueueEntry, World } from '../world.ts'
import { type Directory, type OnPull, personWith } from './directory.ts'

interface MergeOutcome {
  readonly status: number
  readonly message: string
  readonly sha: string | undefined
}

export interface NewPullRequest {
  readonly repo: string
  /** Branch, in `headRepo` when that is given (a fork). */
  readonly head: string
  readonly headRepo?: string
  readonly base?: string
  readonly title?: string
  readonly body?: string
  readonly as: string
  readonly draft?: boolean
}

/** What people do with pull requests. Who may not do it gets an HttpError with GitHub's words. */
export function onPulls(world: World, { userNamed, repositoryNamed }: Directory) {
  /** The author, or who may write. */
  function editor(wanted: OnPull) {
    const repository = repositoryNamed(wanted.repo)
    const pull = pullNumbered(repository, wanted.pull)
    const user = userNamed(wanted.as)
    return { repository, pull, by: pull.issue.user === user ? user : personWith(world, repository, user, 'write') }
  }

  function openPullRequest(wanted: NewPullRequest): Pull {
    const repository = repositoryNamed(wanted.repo)
    const [title, body] = [wanted.title ?? wanted.head, wanted.body ?? null]
    return openPull(world, repository, userNamed(wanted.as), undefined, {
      ...{ title, body, base: wanted.base ?? repository.defaultBranch, draft: wanted.draft ?? false },
      head: { repository: repositoryNamed(wanted.headRepo ?? wanted.repo), ref: wanted.head },
    })
  }

  /** Presses "Merge": never throws for what GitHub would answer, so that a blocked merge can be told. */
  function merge(wanted: OnPull & { method?: 'merge' | 'squash'; sha?: string }): MergeOutcome {
    const repository = repositoryNamed(wanted.repo)
    const pull = pullNumbered(repository, wanted.pull)
    const how = { method: wanted.method ?? 'merge', sha: wanted.sha, title: undefined, message: undefined }
    try {
      const user = personWith(world, repository, userNamed(wanted.as), 'write')
      const sha = mergePull(world, repository, pull, { kind: 'user', user }, how)
      return { status: 200, message: 'Pull Request successfully merged', sha }
    } catch (error) {
      if (error instanceof HttpError) return { status: error.status, message: error.message, sha: undefined }
      throw error
    }
  }

  function closePullRequest(wanted: OnPull): void {
    const { repository, pull, by } = editor(wanted)
    closePull(world, repository, pull, by)
  }

  function reopenPullRequest(wanted: OnPull): void {
    const { repository, pull, by } = editor(wanted)
    reopenPull(world, repository, pull, by)
  }

  /** Changes title or body, or leads it to another base. */
  function editPullRequest(wanted: OnPull & NewText & { base?: string }): void {
    const { repository, pull, by } = editor(wanted)
    editPull(world, repository, pull, wanted, by)
  }

  function readyForReview(wanted: OnPull): void {
    const { repository, pull, by } = editor(wanted)
    setDraft(world, repository, pull, false, by)
  }

  function convertToDraft(wanted: OnPull): void {
    const { repository, pull, by } = editor(wanted)
    setDraft(world, repository, pull, true, by)
  }

  /** Presses "Merge when ready" where the base has a merge queue. Throws 405 and 422 as `merge` tells them. */
  function addToQueue(repo: string, pull: number, { as }: { as: string }): QueueEntry {
    const repository = repositoryNamed(repo)
    const by = personWith(world, repository, userNamed(as), 'write')
    return enqueue(world, repository, pullNumbered(repository, pull), by)
  }

  function dequeue(repo: string, pull: number, { as }: { as: string }): void {
    const repository = repositoryNamed(repo)
    const by = personWith(world, repository, userNamed(as), 'write')
    leaveQueue(world, repository, pullNumbered(repository, pull), by, 'MANUAL')
  }

  /** Lets the time run out in which the checks of the first group had to come. */
  function timeOutQueue(repo: string, base = repositoryNamed(repo).defaultBranch): void {
    const repository = repositoryNamed(repo)
    const front = repository.queues.get(base)?.[0]
    if (!front) throw new Error(`the merge queue of ${base} in ${repo} is empty`)
    leaveQueue(world, repository, front.pull, front.by, 'CI_TIMEOUT')
  }

  return {
    ...{ enqueue: addToQueue, dequeue, timeOutQueue },
    ...{ openPullRequest, merge, closePullRequest, reopenPullRequest, editPullRequest },
    ...{ readyForReview, convertToDraft },
  }
}
