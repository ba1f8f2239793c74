import { BailiwickError } from '../../errors.ts'
import { checkPaths } from '../../git/entry-limits.ts'
import { message, part } from '../../message/message.ts'
import { github, statusOf } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'
import { readBranch } from './branch.ts'

/** Files in other words, as one commit on top of exactly `head`. */
interface FileCommit {
  readonly branch: string
  readonly head: string
  readonly files: readonly { readonly path: string; readonly content: string; readonly mode: '100644' | '100755' }[]
  readonly message: string
  /** Called after the commit exists and before the branch moves to it. */
  readonly beforeMove?: (sha: string) => Promise<void>
}

/**
 * Commits to a branch that is there, never by force. Undefined where the branch is not at `head` any more: whoever asked
 * asked for another state. Throws `not-permitted` where its protection refuses.
 */
export async function commitFiles(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  { branch, head, files, message: text, beforeMove }: FileCommit,
): Promise<string | undefined> {
  const name = `${owner}/${repo}`
  checkPaths(name, files)
  const [at, onto] = [repositoryPart({ owner, repo }), part('branch', branch, JSON.stringify(branch))]
  const present = await readBranch(octokit, { owner, repo }, branch)
  if (present?.commit !== head) return undefined
  const tree = await github(message`write a tree to ${at}`, () =>
    octokit.rest.git.createTree({
      owner,
      repo,
      base_tree: present.tree,
      tree: files.map(({ path, content, mode }) => ({ path, mode, type: 'blob' as const, content })),
    }),
  )
  const commit = await github(message`write a commit to ${at}`, () =>
    // without an author GitHub names our bot and signs the commit
    octokit.rest.git.createCommit({ owner, repo, message: text, tree: tree.data.sha, parents: [head] }),
  )
  const { sha } = commit.data
  await beforeMove?.(sha)
  try {
    await octokit.rest.git.updateRef({ owner, repo, ref: `heads/${branch}`, sha, force: false })
  } catch (error) {
    if (statusOf(error) !== 422) await github(message`move ${onto} of ${at}`, () => Promise.reject(error))
    // 422 is "Update is not a fast forward", and what a protection says of a direct push
    const now = await readBranch(octokit, { owner, repo }, branch)
    if (now?.commit !== head) return undefined
    throw new BailiwickError('not-permitted', message`The protection of ${onto} of ${at} rejects the commit`, {
      fix: 'Make the changes by hand, or let the App push to this branch.',
    })
  }
  return sha
}
