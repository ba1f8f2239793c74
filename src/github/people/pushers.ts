import { BailiwickError } from '../../errors.ts'
import { message } from '../../message/message.ts'
import { unlessMissing } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** Moves of one branch that are looked at; who moves it more often is not told apart. */
const MOST_MOVES = 300

/**
 * Logins of everybody who moved a branch since it was made, by GitHub's own record: authors and committers of commits are
 * only text. Undefined where GitHub does not say so of every move: a gap, an account that is gone, an app, a repository that
 * the App may not read, or a branch that stands elsewhere by now.
 */
export async function listPushers(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  branch: string,
  head: string,
): Promise<readonly string[] | undefined> {
  const ref = `refs/heads/${branch}`
  try {
    const found = await unlessMissing(message`read who pushed to ${repositoryPart({ owner, repo })}`, async () => {
      const moves: Move[] = []
      const pages = octokit.paginate.iterator(octokit.rest.repos.listActivities, {
        ...{ owner, repo, ref, direction: 'desc', per_page: 100 },
      })
      for await (const { data } of pages) {
        moves.push(...data.filter(one => one.ref === ref))
        if (moves.length >= MOST_MOVES || moves.some(isCreation)) break
      }
      return moves
    })
    return found && pushersIn(found, head)
  } catch (error) {
    // a fork that the App is not installed on
    if (error instanceof BailiwickError && error.code === 'not-permitted') return undefined
    throw error
  }
}

interface Move {
  readonly before: string
  readonly after: string
  readonly ref: string
  readonly activity_type: string
  readonly actor?: { readonly login: string; readonly type: string } | null
}

const isCreation = (move: Move): boolean => move.activity_type === 'branch_creation'

/** `moves`: the last one first. */
function pushersIn(moves: readonly Move[], head: string): string[] | undefined {
  const logins = new Set<string>()
  let at = head
  for (const move of moves) {
    if (move.after !== at || move.actor?.type !== 'User') return undefined
    logins.add(move.actor.login)
    if (isCreation(move)) return [...logins]
    at = move.before
  }
  return undefined
}
