import { message } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import { isOurs } from '../client/is-ours.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'
import { readCommit } from '../contents/read-commit.ts'
import type { Head } from './branch.ts'

/** What a branch has that another has not. */
export interface BranchChange {
  /** Tree of the parent, where the branch is ahead by one commit that is no merge. */
  readonly onlyParentTree: string | undefined
  /**
   * GitHub attributes each of its commits to our bot. That follows from an address in the commit, which anybody can write:
   * good enough to know that nobody's work is thrown away, never to trust what the branch holds.
   */
  readonly allOurs: boolean
}

/** Compares a branch with its base. Throws as `github` does. */
export async function changeOf(
  octokit: Octokit,
  app: AppIdentity,
  repository: RepositoryName,
  base: string,
  head: Head,
): Promise<BranchChange> {
  const { owner, repo } = repository
  const { data } = await github(message`compare a branch of ${repositoryPart({ owner, repo })}`, () =>
    octokit.rest.repos.compareCommitsWithBasehead({ owner, repo, basehead: `${base}...${head.commit}` }),
  )
  // at most 250 commits are listed; ours are one or two
  const complete = data.total_commits === data.commits.length
  const [only] = data.commits
  const parent = only?.parents.length === 1 ? only.parents[0]?.sha : undefined
  const isOne = complete && data.commits.length === 1 && only?.sha === head.commit
  const allOurs = complete && data.commits.every(one => isOurs(app, userOf(one.author)))
  return {
    onlyParentTree: isOne && parent ? (await readCommit(octokit, repository, parent)).tree : undefined,
    allOurs,
  }
}

function userOf(author: object | null) {
  if (!author || !('login' in author) || !('type' in author)) return { user: null }
  return { user: { login: String(author.login), type: String(author.type) } }
}
