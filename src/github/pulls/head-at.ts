import { message } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** So many moves are looked back: a branch that moved more often since is not known. */
const MAX_PAGES = 5
const NOTHING = /^0+$/

/**
 * The commit that a branch held at a time, by GitHub's own record of pushes: dates of commits are only text. Undefined
 * where there was no such branch yet, or the record does not reach back that far.
 */
export async function readHeadAt(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  branch: string,
  time: string,
): Promise<string | undefined> {
  const ref = `refs/heads/${branch}`
  const question = { owner, repo, ref, per_page: 100 }
  const until = Date.parse(time)
  let before: string | undefined
  let pages = 0
  const moves = await github(message`read how ${repositoryPart({ owner, repo })} moved`, () =>
    octokit.paginate(octokit.rest.repos.listActivities, question, ({ data }, done) => {
      if (++pages >= MAX_PAGES || data.some(({ timestamp }) => Date.parse(timestamp) <= until)) done()
      return data
    }),
  )
  for (const move of moves) {
    if (move.ref !== ref) continue
    if (Date.parse(move.timestamp) <= until) return NOTHING.test(move.after) ? undefined : move.after
    before = move.before
  }
  return pages >= MAX_PAGES || before === undefined || NOTHING.test(before) ? undefined : before
}
