import { message } from '../../message/message.ts'
import { github, unlessMissing } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** GitHub lists no more commits of a pull request than this. */
const PER_PAGE = 100

interface ChangeOfPull {
  readonly number: number
  readonly head: string
}

/**
 * Logins of the people to whom GitHub ascribes the commits of a pull request that touch one of the paths; no bots. Names
 * that only the commits give are left out.
 */
export async function pathAuthors(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  { number, head }: ChangeOfPull,
  paths: readonly string[],
): Promise<readonly string[]> {
  const { data: own } = await github(message`list the commits of ${repositoryPart({ owner, repo }, number)}`, () =>
    octokit.rest.pulls.listCommits({ owner, repo, pull_number: number, per_page: PER_PAGE }),
  )
  const mine = new Set(own.map(({ sha }) => sha))
  const logins = new Set<string>()
  for (const path of paths) {
    const place = path === '' ? {} : { path }
    const found = await unlessMissing(message`list commits of ${repositoryPart({ owner, repo })}`, () =>
      octokit.rest.repos.listCommits({ owner, repo, sha: head, ...place, per_page: PER_PAGE }),
    )
    for (const { sha, author } of found?.data ?? []) {
      if (mine.has(sha) && author && 'login' in author && author.type === 'User') logins.add(author.login)
    }
  }
  return [...logins].sort()
}
