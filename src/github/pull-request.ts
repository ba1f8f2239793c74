import { unlessMissing } from './client/github-error.ts'
import type { GitHubRepository } from './client/octokit.ts'

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
  /** `sha` is what GitHub last noted; readTestMerge reads the branch as it is. */
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

/** The pull request as it is now; undefined when there is none. */
export async function readPullRequest(
  { octokit, owner, repo }: GitHubRepository,
  pull: number,
): Promise<PullRequest | undefined> {
  const found = await unlessMissing(octokit.rest.pulls.get({ owner, repo, pull_number: pull }))
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
  { octokit, owner, repo }: GitHubRepository,
  base?: string,
): Promise<readonly ListedPullRequest[]> {
  const onto = base === undefined ? {} : { base }
  const found = await octokit.paginate(octokit.rest.pulls.list, {
    owner,
    repo,
    state: 'open',
    ...onto,
    direction: 'asc',
    per_page: 100,
  })
  return found.filter(one => base === undefined || one.base.ref === base).map(listed)
}

/** Open pull requests whose head is this commit, whatever branch they aim at. */
export async function listPullRequestsOf(
  repository: GitHubRepository,
  sha: string,
): Promise<readonly ListedPullRequest[]> {
  return (await listOpenPullRequests(repository)).filter(({ head }) => head.sha === sha)
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

/** Hashes of the commits of a pull request, the oldest first; GitHub lists at most 250. */
export async function pullCommits({ octokit, owner, repo }: GitHubRepository, pull: number): Promise<string[]> {
  const found = await octokit.paginate(octokit.rest.pulls.listCommits, {
    owner,
    repo,
    pull_number: pull,
    per_page: 100,
  })
  return found.map(({ sha }) => sha)
}

/** That a pull request was led onto another base branch, or opened again: by whom, undefined when the account is gone. */
export interface OpenedAnew {
  readonly by: string | undefined
  /** ISO time, in whole seconds. */
  readonly at: string
}

/** GitHub leads one elsewhere by itself when its base is deleted: https://docs.github.com/en/rest/using-the-rest-api/issue-event-types */
const EVENTS = ['base_ref_changed', 'automatic_base_change_succeeded', 'reopened']

/** For what knows by itself which branch it is about. */
export const REOPENED: readonly string[] = ['reopened']

/**
 * When a pull request last changed its meaning without a push; undefined: it is as it was opened. An earlier approval
 * was for something else: the same commit onto another branch is another change, and closing one takes approvals back.
 * `counting`: names of the events.
 */
export async function openedAnew(
  { octokit, owner, repo }: GitHubRepository,
  pull: number,
  counting: readonly string[] = EVENTS,
): Promise<OpenedAnew | undefined> {
  const events = await octokit.paginate(octokit.rest.issues.listEvents, {
    owner,
    repo,
    issue_number: pull,
    per_page: 100,
  })
  const last = events.findLast(({ event }) => counting.includes(event))
  return last && { by: last.actor?.login, at: last.created_at }
}

/** Whether something was posted after that. Times are whole seconds: what is equal may be earlier. */
export function isSince(at: string | undefined, anew: OpenedAnew | undefined): boolean {
  return anew === undefined || (at !== undefined && Date.parse(at) > Date.parse(anew.at))
}

/** A pull request by which a commit came to its branch. */
interface MergedPull {
  readonly number: number
  /** The last commit of its own branch. */
  readonly head: string
  /** The name of its own branch. */
  readonly branch: string
}

/** The pull request whose merge made this commit the tip of a branch, with any way of merging; undefined for a push. */
export async function mergedPull(
  { octokit, owner, repo }: GitHubRepository,
  sha: string,
): Promise<MergedPull | undefined> {
  const found = await unlessMissing(
    octokit.rest.repos.listPullRequestsAssociatedWithCommit({ owner, repo, commit_sha: sha, per_page: 100 }),
  )
  const merged = found?.data.find(one => one.merged_at !== null && one.merge_commit_sha === sha)
  return merged && { number: merged.number, head: merged.head.sha, branch: merged.head.ref }
}

/**
 * Numbers of all pull requests of a merge queue's commit down to the commit `base` of the branch: the name of each branch
 * that GitHub makes for the queue holds the commit that it stands on. Undefined where that does not lead down to `base`.
 */
export async function pullsOfMergeGroup(
  repository: GitHubRepository,
  branch: string,
  group: { readonly sha: string; readonly base: string },
): Promise<readonly number[] | undefined> {
  const entries = new Map((await entriesOf(repository, branch)).map(entry => [entry.sha, entry]))
  const numbers: number[] = []
  for (let at = group.sha; at !== group.base; ) {
    const entry = entries.get(at)
    if (!entry || numbers.length > entries.size) return undefined
    numbers.push(entry.pull)
    at = entry.base
  }
  return numbers
}

/**
 * Number of the pull request that a merge queue's commit adds to what stands before it, by the branch that GitHub makes
 * for it: `gh-readonly-queue/<branch>/pr-<number>-<sha>`. Undefined where the group is gone. Only GitHub writes there.
 */
export async function pullOfMergeGroup(
  repository: GitHubRepository,
  branch: string,
  sha: string,
): Promise<number | undefined> {
  return (await entriesOf(repository, branch)).find(entry => entry.sha === sha)?.pull
}

interface QueueEntry {
  readonly sha: string
  readonly pull: number
  /** The commit that it stands on. */
  readonly base: string
}

async function entriesOf({ octokit, owner, repo }: GitHubRepository, branch: string): Promise<readonly QueueEntry[]> {
  const prefix = `gh-readonly-queue/${branch}/`
  const refs = await octokit.paginate(octokit.rest.git.listMatchingRefs, { owner, repo, ref: `heads/${prefix}` })
  return refs.flatMap(({ ref, object }) => {
    if (!ref.startsWith(`refs/heads/${prefix}`)) return []
    const name = ref.slice(`refs/heads/${prefix}`.length)
    const [, number, base] = /^pr-(\d{1,9})-([\da-f]{40,64})$/.exec(name) ?? []
    return number && base ? [{ sha: object.sha, pull: Number(number), base }] : []
  })
}
