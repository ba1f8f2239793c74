import { HttpError } from '../http/http-error.ts'
import { emailOf } from '../json/commit.ts'
import { type Actor, fullName, now, type Pull, type Repository, senderOf, type World } from '../world.ts'
import { mergeCommit, mergedTree } from './mergeability.ts'
import { closePull, moveRef } from './move-ref.ts'
import { mayMerge } from './protection.ts'

interface MergeWish {
  readonly method: 'merge' | 'squash' | 'rebase'
  readonly sha: string | undefined
  readonly title: string | undefined
  readonly message: string | undefined
}

/** Merges a pull request and returns the commit. Throws 405 (closed, draft, conflict, checks) and 409 (moved head). */
export function mergePull(world: World, repository: Repository, pull: Pull, actor: Actor, wish: MergeWish): string {
  if (pull.issue.state === 'closed') throw new HttpError(405, 'Pull Request is not mergeable')
  if (pull.draft) throw new HttpError(405, 'Pull Request is still a draft')
  if (wish.method === 'rebase') throw new HttpError(405, 'Rebase merges are not allowed on this repository.')
  if (wish.sha !== undefined && wish.sha !== pull.head.sha) {
    throw new HttpError(409, 'Head branch was modified. Review and try the merge again.')
  }
  const tree = mergedTree(repository, pull)
  if (tree === undefined) throw new HttpError(405, 'Pull Request has merge conflicts')
  mayMerge(world, repository, pull, actor, { method: wish.method, byQueue: false })
  const by = senderOf(actor)
  const commit =
    wish.method === 'squash' ? squash(repository, pull, tree, actor, wish) : merge(repository, pull, tree, actor, wish)
  pull.merged = { by, at: now() }
  pull.mergeCommit = commit
  pull.mergeable = null
  pull.issue.state = 'closed'
  repository.refs.delete(`refs/pull/${pull.issue.number}/merge`)
  moveRef(world, repository, `refs/heads/${pull.base.ref}`, commit, by, 'pr_merge')
  closePull(world, repository, pull, by)
  return commit
}

function merge(repository: Repository, pull: Pull, tree: string, actor: Actor, wish: MergeWish): string {
  const from = `${pull.head.repository.owner.login}/${pull.head.ref}`
  const title = wish.title ?? `Merge pull request #${pull.issue.number} from ${from}`
  return mergeCommit(repository, pull, tree, senderOf(actor), `${title}\n\n${wish.message ?? pull.issue.title}`)
}

function squash(repository: Repository, pull: Pull, tree: string, actor: Actor, wish: MergeWish): string {
  const by = senderOf(actor)
  const author = { name: by.login, email: emailOf(by), date: now() }
  const title = wish.title ?? `${pull.issue.title} (#${pull.issue.number})`
  const message = wish.message ? `${title}\n\n${wish.message}` : title
  const committer = { name: 'GitHub', email: 'noreply@github.com', date: author.date }
  return repository.store.putCommit({ tree, parents: [pull.base.sha], author, committer, message })
}

/** The pull request, or an error that names it: for callers within the test. */
export function pullNumbered(repository: Repository, number: number): Pull {
  const pull = repository.pulls.get(number)
  if (!pull) throw new Error(`${fullName(repository)} has no pull request ${number}`)
  return pull
}
