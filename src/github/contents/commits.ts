import { BailiwickError } from '../../base/errors.ts'
import { message, part } from '../../base/message.ts'
import type { ObjectStore } from '../../git/object-store.ts'
import type { TrailCommit } from '../../verdict/append-decisions.ts'
import { unlessMissing } from '../client/github-error.ts'
import { type GitHubRepository, type Octokit, repositoryPart } from '../client/octokit.ts'

const ID = /^[0-9a-f]{40}$/

/** A commit as far as we look at it. */
export interface Commit {
  readonly sha: string
  readonly tree: string
  readonly parents: readonly string[]
  /** First line and the rest, as it was written; a claim of its author. */
  readonly message: string
}

/** Reads a commit by its full id. Throws `git-missing`, `git-corrupt` when the answer is about another commit. */
export async function readCommit({ octokit, owner, repo }: GitHubRepository, sha: string): Promise<Commit> {
  assertCommitId(sha)
  const { data } = await octokit.rest.git.getCommit({ owner, repo, commit_sha: sha })
  if (data.sha !== sha || !ID.test(data.tree?.sha ?? '')) {
    throw new BailiwickError(
      'git-corrupt',
      message`GitHub returned another object than commit ${part('value', sha)} of ${repositoryPart({ owner, repo })}`,
    )
  }
  return { sha, tree: data.tree.sha, parents: data.parents.map(parent => parent.sha), message: data.message }
}

/** Tree id of a commit; asked once per repository and commit. */
export async function readTreeId(repository: GitHubRepository, store: ObjectStore, commit: string): Promise<string> {
  assertCommitId(commit)
  const name = `${repository.owner}/${repository.repo}`
  const known = await store.readCommitTree(name, commit)
  if (known) return known
  const { tree } = await readCommit(repository, commit)
  await store.writeCommitTree(name, commit, tree)
  return tree
}

/** Throws `git-missing` for anything but a full commit id: GitHub would take a short one, or a branch of that name. */
export function assertCommitId(sha: string): void {
  if (ID.test(sha)) return
  throw new BailiwickError('git-missing', `${JSON.stringify(sha.slice(0, 80))} is not a full commit id (40 hex digits)`)
}

/** Longer than GitHub shows of a subject, and than any login. */
const MAX_SUBJECT = 300
const MAX_AUTHOR = 100

/** What people recognize a commit by. Its author chooses both. */
interface CommitSummary {
  /** First line of its message. */
  readonly subject: string
  /** The login that GitHub ascribes it to, else the name in the commit; '' for none. */
  readonly author: string
}

/** Reads the subject and author of a commit; undefined if GitHub does not have it. Unlike GitHub's single commit, a list has no diff. */
export async function readCommitSummary(
  { octokit, owner, repo }: GitHubRepository,
  sha: string,
): Promise<CommitSummary | undefined> {
  assertCommitId(sha)
  const found = await unlessMissing(octokit.rest.repos.listCommits({ owner, repo, sha, per_page: 1 }))
  const first = found?.data[0]
  if (first?.sha !== sha) return undefined
  const { author, commit } = first
  const login = author && 'login' in author ? author.login : undefined
  return {
    subject: (commit.message.split(/[\r\n]/, 1)[0] ?? '').slice(0, MAX_SUBJECT),
    author: (login ?? commit.author?.name ?? '').slice(0, MAX_AUTHOR),
  }
}

/** The last hundred commits of a branch, with author and signer by GitHub's record; undefined without a branch. */
export async function listBranchCommits(
  { octokit, owner, repo }: GitHubRepository,
  branch: string,
): Promise<readonly TrailCommit[] | undefined> {
  const found = await unlessMissing(
    octokit.rest.repos.listCommits({ owner, repo, sha: `refs/heads/${branch}`, per_page: 100 }),
  )
  return found?.data.map(signedCommit)
}

/** The head of a branch as a trail commit. */
export interface SignedHead extends TrailCommit {
  readonly commit: string
  readonly tree: string
  readonly parents: readonly string[]
  readonly message: string
}

/** The head of a branch with its author and signature according to GitHub; undefined if the branch does not exist. */
export async function readSignedHead(
  { octokit, owner, repo }: GitHubRepository,
  branch: string,
): Promise<SignedHead | undefined> {
  const found = await unlessMissing(octokit.rest.repos.getBranch({ owner, repo, branch }))
  // GitHub redirects the old name of a renamed branch
  if (!found || found.data.name !== branch) return undefined
  const { commit } = found.data
  const parents = commit.parents.map(({ sha }) => sha)
  const { message: words, tree } = commit.commit
  return { ...signedCommit(commit), commit: commit.sha, tree: tree.sha, parents, message: words }
}

type ShownCommit = Awaited<ReturnType<Octokit['rest']['repos']['getBranch']>>['data']['commit']

function signedCommit({ sha, author, committer, commit }: ShownCommit): TrailCommit {
  return {
    sha,
    author: author && 'login' in author ? author.login : undefined,
    committer: committer && 'login' in committer ? committer.login : undefined,
    verified: commit.verification?.verified === true,
  }
}
