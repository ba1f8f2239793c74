import { mergeBase } from '../git/graph.ts'
import { mergeTrees } from '../git/merge-trees.ts'
import { emailOf } from '../json/commit.ts'
import { now, type Pull, type Repository, type User, type World } from '../world.ts'

/** Marks the test merge as unknown and computes it a moment later, as GitHub does after the head or the base moved. */
export function scheduleMergeability(world: World, repository: Repository, pull: Pull): void {
  pull.mergeable = null
  const timer = setTimeout(() => {
    world.timers.delete(timer)
    refreshMergeability(repository, pull)
  }, world.mergeabilityDelayMs)
  world.timers.add(timer)
}

/** Merges head into base for a test: sets `mergeable`, and refs/pull/N/merge when there is no conflict. */
export function refreshMergeability(repository: Repository, pull: Pull): void {
  if (pull.mergeable !== null || pull.issue.state === 'closed') return
  const tree = mergedTree(repository, pull)
  pull.mergeable = tree !== undefined
  if (tree === undefined) {
    // refs/pull/N/merge stays at the last merge that worked, so it must not be read without asking `mergeable`
    pull.mergeCommit = null
    return
  }
  pull.mergeCommit = mergeCommit(
    repository,
    pull,
    tree,
    pull.issue.user,
    `Merge ${pull.head.sha} into ${pull.base.sha}`,
  )
  repository.refs.set(`refs/pull/${pull.issue.number}/merge`, pull.mergeCommit)
}

/** The tree that merging would give, from the present tips; undefined when there is a conflict. */
export function mergedTree(repository: Repository, pull: Pull): string | undefined {
  const { store } = repository
  const treeOf = (sha: string) => store.commit(sha)!.tree
  const base = mergeBase(store, pull.base.sha, pull.head.sha)
  if (base === undefined) return undefined
  const result = mergeTrees(store, treeOf(base), treeOf(pull.base.sha), treeOf(pull.head.sha))
  return 'tree' in result ? result.tree : undefined
}

/** Merges the head of a pull request onto a commit, as a merge queue does; undefined when there is a conflict. */
export function mergeOf(repository: Repository, pull: Pull, onto: string, by: User): string | undefined {
  const { store } = repository
  const treeOf = (sha: string) => store.commit(sha)!.tree
  const base = mergeBase(store, onto, pull.head.sha)
  const result = base === undefined ? undefined : mergeTrees(store, treeOf(base), treeOf(onto), treeOf(pull.head.sha))
  if (!result || !('tree' in result)) return undefined
  const author = { name: by.login, email: emailOf(by), date: now() }
  const committer = { name: 'GitHub', email: 'noreply@github.com', date: author.date }
  const from = `${pull.head.repository.owner.login}/${pull.head.ref}`
  const message = `Merge pull request #${pull.issue.number} from ${from}\n\n${pull.issue.title}`
  return store.putCommit({ tree: result.tree, parents: [onto, pull.head.sha], author, committer, message })
}

export function mergeCommit(repository: Repository, pull: Pull, tree: string, user: User, message: string): string {
  const author = { name: user.login, email: emailOf(user), date: now() }
  const parents = [pull.base.sha, pull.head.sha]
  const committer = { name: 'GitHub', email: 'noreply@github.com', date: author.date }
  return repository.store.putCommit({ tree, parents, author, committer, message })
}
