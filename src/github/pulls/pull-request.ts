import { BailiwickError } from '../../errors.ts'
import { type MessagePart, message, part } from '../../message/message.ts'
import { github, unlessMissing } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'
import { type Commit, readCommit } from '../contents/read-commit.ts'
import { readBranch } from './branch.ts'

export interface PullRequest {
  readonly number: number
  readonly state: 'open' | 'closed'
  /** As its author wrote it. */
  readonly title: string
  readonly merged: boolean
  readonly draft: boolean
  /** Names of its labels. */
  readonly labels: readonly string[]
  /** Who opened it; undefined when the account is gone. */
  readonly author: { readonly login: string; readonly type: string } | undefined
  /** `sha` is what GitHub last noted; readTestMerge asks for the branch as it is. */
  readonly base: { readonly ref: string; readonly sha: string; readonly isDefault: boolean }
  /** `repository` is null when the fork is gone. */
  readonly head: {
    readonly ref: string
    readonly sha: string
    readonly repository: string | null
    readonly fork: boolean
  }
  /** What GitHub knows of the merge: null while it computes. */
  readonly mergeable: boolean | null
  readonly mergeCommit: string | null
}

/** What the merge would give: the commit that GitHub made for testing, on the base branch as it is now. */
export interface TestMerge extends Commit {
  readonly base: string
  /** Tree id of the base. */
  readonly baseTree: string
  readonly head: string
}

/** The pull request as it is now; undefined when there is none. */
export async function readPullRequest(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  pull: number,
): Promise<PullRequest | undefined> {
  const found = await unlessMissing(message`read pull request ${repositoryPart({ owner, repo }, pull)}`, () =>
    octokit.rest.pulls.get({ owner, repo, pull_number: pull }),
  )
  if (!found) return undefined
  const { data } = found
  return {
    ...listed(data),
    merged: data.merged,
    mergeable: data.mergeable,
    mergeCommit: data.merge_commit_sha,
  }
}

/** A pull request as a list shows it. */
export type ListedPullRequest = Omit<PullRequest, 'merged' | 'mergeable' | 'mergeCommit'>

/** Open pull requests, onto one branch or onto all, oldest first. */
export async function listOpenPullRequests(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  base?: string,
): Promise<readonly ListedPullRequest[]> {
  const onto = base === undefined ? {} : { base }
  const found = await github(message`list the open pull requests of ${repositoryPart({ owner, repo })}`, () =>
    octokit.paginate(octokit.rest.pulls.list, { owner, repo, state: 'open', ...onto, direction: 'asc', per_page: 100 }),
  )
  return found.filter(one => base === undefined || one.base.ref === base).map(listed)
}

/** Open pull requests whose head is this commit, whatever branch they aim at. */
export async function listPullRequestsOf(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  sha: string,
): Promise<readonly ListedPullRequest[]> {
  const found = await github(message`list the open pull requests of ${repositoryPart({ owner, repo })}`, () =>
    octokit.paginate(octokit.rest.pulls.list, { owner, repo, state: 'open', per_page: 100 }),
  )
  return found.filter(one => one.head.sha === sha).map(listed)
}

/** Throws `github-unavailable` while GitHub computes whether the pull request can be merged: it was asked for just now. */
export function assertComputed({ owner, repo }: RepositoryName, pull: PullRequest): void {
  if (pull.mergeable === null) throw computing(repositoryPart({ owner, repo }, pull.number))
}

/**
 * The test merge of an open pull request, checked to be of exactly the base branch's present head and the pull request's.
 * Throws `merge-conflict` where there is none, `github-unavailable` while GitHub is computing it or has one of an older
 * state (try again in a moment), `git-missing` when the base branch is gone.
 */
export async function readTestMerge(
  octokit: Octokit,
  repository: RepositoryName,
  pull: PullRequest,
): Promise<TestMerge> {
  const name = repositoryPart(repository, pull.number)
  const branch = part('branch', pull.base.ref, JSON.stringify(pull.base.ref))
  if (pull.mergeable === false) {
    throw new BailiwickError(
      'merge-conflict',
      message`${name} conflicts with ${branch}, so nobody can say what it would give`,
      {
        fix: 'Resolve the conflict and push again.',
      },
    )
  }
  if (pull.mergeable === null || !pull.mergeCommit) throw computing(name)
  const [base, merge] = await Promise.all([
    readBranch(octokit, repository, pull.base.ref),
    ifThere(readCommit(octokit, repository, pull.mergeCommit)),
  ])
  if (!base) throw new BailiwickError('git-missing', message`${name} is onto the branch ${branch}, which is gone`)
  // GitHub throws an older test merge away
  if (!merge) throw computing(name)
  const [first, second, ...more] = merge.parents
  if (first !== base.commit || second !== pull.head.sha || more.length > 0) throw computing(name)
  return { ...merge, base: base.commit, baseTree: base.tree, head: pull.head.sha }
}

async function ifThere<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof BailiwickError && error.code === 'git-missing') return undefined
    throw error
  }
}

function computing(name: MessagePart): BailiwickError {
  return new BailiwickError('github-unavailable', message`GitHub is still computing what merging ${name} gives`, {
    retryAfter: 2,
  })
}

interface PullAnswer {
  readonly number: number
  readonly title: string
  readonly state: string
  readonly draft?: boolean
  readonly labels: readonly { readonly name: string }[]
  readonly user: { readonly login: string; readonly type: string } | null
  readonly base: {
    readonly ref: string
    readonly sha: string
    readonly repo: { readonly id: number; readonly default_branch: string }
  }
  readonly head: {
    readonly ref: string
    readonly sha: string
    readonly repo: { readonly id: number; readonly full_name: string } | null
  }
}

function listed(answer: PullAnswer): ListedPullRequest {
  const { base, head } = answer
  return {
    number: answer.number,
    title: answer.title,
    state: answer.state === 'open' ? 'open' : 'closed',
    draft: answer.draft ?? false,
    labels: answer.labels.map(label => label.name),
    author: answer.user ? { login: answer.user.login, type: answer.user.type } : undefined,
    base: { ref: base.ref, sha: base.sha, isDefault: base.ref === base.repo.default_branch },
    // by id: a repository that was renamed is still the same; a deleted one is someone else's until proven otherwise
    head: {
      ref: head.ref,
      sha: head.sha,
      repository: head.repo?.full_name ?? null,
      fork: head.repo?.id !== base.repo.id,
    },
  }
}
