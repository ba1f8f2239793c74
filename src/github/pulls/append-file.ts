import { BailiwickError } from '../../errors.ts'
import { message, part } from '../../message/message.ts'
import { github, statusOf } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'
import { type Head, readBranch } from './branch.ts'

/** One file to add to a branch. */
interface AddedFile {
  readonly branch: string
  readonly path: string
  readonly content: string
  /** Of the commit. */
  readonly message: string
}

/**
 * Adds a file to a branch as one commit on `head`; without a head, that commit starts a new branch without history.
 * The update must be a fast-forward: if the branch moved meanwhile, GitHub refuses it and this throws as `github` does. Throws
 * `not-permitted` if branch protection refuses it. Returns the commit.
 */
export async function appendFile(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  head: Head | undefined,
  { branch, path, content, message: words }: AddedFile,
): Promise<string> {
  const where = repositoryPart({ owner, repo })
  const tree = await github(message`write a tree to ${where}`, () =>
    octokit.rest.git.createTree({
      ...{ owner, repo },
      ...(head ? { base_tree: head.tree } : {}),
      tree: [{ path, mode: '100644', type: 'blob', content }],
    }),
  )
  const commit = await github(message`write a commit to ${where}`, () =>
    // without an author GitHub names our bot and signs the commit
    octokit.rest.git.createCommit({
      ...{ owner, repo, message: words, tree: tree.data.sha },
      parents: head ? [head.commit] : [],
    }),
  )
  const { sha } = commit.data
  const onto = part('branch', branch, JSON.stringify(branch))
  try {
    if (head) await octokit.rest.git.updateRef({ owner, repo, ref: `heads/${branch}`, sha, force: false })
    else await octokit.rest.git.createRef({ owner, repo, ref: `refs/heads/${branch}`, sha })
  } catch (error) {
    // 422 means "Update is not a fast forward" or a rejection by a ruleset
    if (statusOf(error) === 422 && (await readBranch(octokit, { owner, repo }, branch))?.commit === head?.commit) {
      throw new BailiwickError(
        'not-permitted',
        message`A ruleset or protection of ${onto} of ${where} rejects the commit`,
      )
    }
    await github(message`write branch ${onto} of ${where}`, () => Promise.reject(error))
  }
  return sha
}
