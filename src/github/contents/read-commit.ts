import { BailiwickError } from '../../errors.ts'
import type { ObjectStore } from '../../git/object-store.ts'
import { message, part } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

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
export async function readCommit(octokit: Octokit, { owner, repo }: RepositoryName, sha: string): Promise<Commit> {
  assertCommitId(sha)
  const what = message`read commit ${part('value', sha.slice(0, 10))} of ${repositoryPart({ owner, repo })}`
  const { data } = await github(what, () => octokit.rest.git.getCommit({ owner, repo, commit_sha: sha }))
  if (data.sha !== sha || !ID.test(data.tree?.sha ?? '')) {
    throw new BailiwickError(
      'git-corrupt',
      message`GitHub returned another object than commit ${part('value', sha)} of ${repositoryPart({ owner, repo })}`,
    )
  }
  return { sha, tree: data.tree.sha, parents: data.parents.map(parent => parent.sha), message: data.message }
}

/** Tree id of a commit; asked once per repository and commit. */
export async function readTreeId(
  octokit: Octokit,
  store: ObjectStore,
  repository: RepositoryName,
  commit: string,
): Promise<string> {
  assertCommitId(commit)
  const name = `${repository.owner}/${repository.repo}`
  const known = await store.readCommitTree(name, commit)
  if (known) return known
  const { tree } = await readCommit(octokit, repository, commit)
  await store.writeCommitTree(name, commit, tree)
  return tree
}

/** Throws `git-missing` for anything but a full commit id: GitHub would take a short one, or a branch of that name. */
export function assertCommitId(sha: string): void {
  if (ID.test(sha)) return
  throw new BailiwickError('git-missing', `${JSON.stringify(sha.slice(0, 80))} is not a full commit id (40 hex digits)`)
}
