import { BailiwickError } from '../base/errors.ts'
import { type MessagePart, message } from '../base/message.ts'
import { mergeDisjoint } from '../git/disjoint-merge.ts'
import { DEFAULT_LIMITS } from '../git/entry-limits.ts'
import type { ObjectStore } from '../git/object-store.ts'
import { treeIdOf } from '../git/tree.ts'
import { type Head, readBranch } from './branches.ts'
import { unlessMissing } from './client/github-error.ts'
import { branchPart, type GitHubRepository, repositoryPart } from './client/octokit.ts'
import { type Commit, readCommit } from './contents/commits.ts'
import { listTree } from './contents/read-tree.ts'
import type { PullRequest } from './pull-request.ts'

/** What the merge would give: the commit that GitHub made for testing, on the base branch as it is now. */
export interface TestMerge extends Commit {
  readonly base: string
  /** Tree id of the base. */
  readonly baseTree: string
  readonly head: string
  /** GitHub had not made it: the commit is the head, the tree is by mergeDisjoint. It is to be compared with GitHub's. */
  readonly isOurs?: true
}

/**
 * The test merge of an open pull request, checked to be of exactly the base branch's present head and the pull request's.
 * GitHub is not waited for where the head holds all of the base, and where mergeDisjoint knows the merge. Throws
 * `merge-conflict` where there is none, `github-unavailable` while GitHub is computing it or has one of an older state (try
 * again in a moment), `git-missing` when the base branch is gone.
 */
export async function readTestMerge(
  repository: GitHubRepository,
  pull: PullRequest,
  store: ObjectStore,
): Promise<TestMerge> {
  const name = repositoryPart(repository, pull.number)
  const branch = branchPart(pull.base.ref)
  if (pull.mergeable === false) {
    throw new BailiwickError('merge-conflict', message`${name} conflicts with ${branch}: nothing was checked`, {
      fix: 'Resolve the conflict and push.',
    })
  }
  const [base, merge] = await Promise.all([readBranch(repository, pull.base.ref), readMadeMerge(repository, pull)])
  if (!base) throw new BailiwickError('git-missing', message`${name} is onto the branch ${branch}, which is gone`)
  const about = { base: base.commit, baseTree: base.tree, head: pull.head.sha }
  if (merge?.parents[0] === base.commit) return { ...merge, ...about }
  const known = await readKnownMerge(repository, pull.head.sha, base, store)
  if (!known) throw computing(name)
  return { ...known, ...about }
}

/**
 * Whether GitHub's test merge of an open pull request has this content, if it is of this base: undefined where base or head
 * moved. Throws `github-unavailable` while GitHub is computing it.
 */
export async function mergesAs(
  repository: GitHubRepository,
  pull: PullRequest,
  { base, head, tree }: Pick<TestMerge, 'base' | 'head' | 'tree'>,
): Promise<boolean | undefined> {
  if (pull.state !== 'open' || pull.head.sha !== head) return undefined
  if (pull.mergeable === false) return false
  const merge = await readMadeMerge(repository, pull)
  if (!merge) throw computing(repositoryPart(repository, pull.number))
  return merge.parents[0] === base ? merge.tree === tree : undefined
}

/** The merge commit that GitHub made of the present head and some head of the base; it throws an older one away. */
async function readMadeMerge(repository: GitHubRepository, pull: PullRequest): Promise<Commit | undefined> {
  if (pull.mergeable === null || pull.mergeCommit === null) return undefined
  const merge = await unlessMissing(readCommit(repository, pull.mergeCommit))
  return merge?.parents.length === 2 && merge.parents[1] === pull.head.sha ? merge : undefined
}

/**
 * The merge of a head that holds all of its base branch: whatever GitHub does, its content is that of the head; or else one
 * that mergeDisjoint knows. Undefined for every other head. The head stands for the commit that GitHub is making.
 */
async function readKnownMerge(
  repository: GitHubRepository,
  sha: string,
  base: Head,
  store: ObjectStore,
): Promise<(Commit & Pick<TestMerge, 'isOurs'>) | undefined> {
  const head = await unlessMissing(readCommit(repository, sha))
  if (!head || head.parents.includes(base.commit)) return head
  const fork = await readFork(repository, sha, base.commit)
  if (fork?.commit === base.commit) return head
  if (!fork?.isOnly) return undefined
  const trees = [fork.tree, base.tree, head.tree].map(tree => listTree(repository, store, tree, DEFAULT_LIMITS))
  const [before, ours, theirs] = await Promise.all(trees)
  const merged = mergeDisjoint(before!, ours!, theirs!)
  if (!merged) return undefined
  const tree = treeIdOf(merged)
  await store.writeListing(tree, merged)
  return { ...head, tree, isOurs: true }
}

interface Fork extends Head {
  /** No other commit is a merge base: the head is a line of commits with one parent each, which begins there. */
  readonly isOnly: boolean
}

/** The merge base of two commits. Of more than a hundred commits GitHub lists the first ones. */
async function readFork({ octokit, owner, repo }: GitHubRepository, head: string, base: string) {
  const compared = octokit.rest.repos.compareCommitsWithBasehead({
    ...{ owner, repo, basehead: `${base}...${head}`, per_page: 100 },
  })
  const data = (await unlessMissing(compared))?.data
  if (!data) return undefined
  const { merge_base_commit: fork, commits, total_commits: total } = data
  const isOnly = commits.length === total && commits.every(({ parents }) => parents.length === 1)
  return { commit: fork.sha, tree: fork.commit.tree.sha, isOnly } satisfies Fork
}

function computing(name: MessagePart): BailiwickError {
  return new BailiwickError('github-unavailable', message`GitHub is still computing what merging ${name} gives`, {
    retryAfter: 2,
  })
}
