import { message } from '../../message/message.ts'
import { githubError } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** Where the histories of two commits part. */
interface MergeBase {
  readonly commit: string
  readonly tree: string
  /** Commits that the head has and the base has not; none: there is nothing to merge. */
  readonly ahead: number
  /** Commits that the base has and the head has not. */
  readonly behind: number
}

/** More commits on the shorter side are not read. */
const MOST_COMMITS = 1000

/** More places where a side left the other's history are not looked at. */
const MOST_PLACES = 20

const PER_PAGE = 100

/**
 * The best common ancestor of two commits; undefined where GitHub says that they have none, so that it does not merge them.
 * Any other answer is an error: a commit that cannot be read may well be merged.
 */
export async function readMergeBase(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  base: string,
  head: string,
): Promise<MergeBase | undefined> {
  try {
    const basehead = `${base}...${head}`
    const { data } = await octokit.rest.repos.compareCommitsWithBasehead({ owner, repo, basehead, per_page: 1 })
    const { merge_base_commit: common, ahead_by: ahead, behind_by: behind } = data
    return { commit: common.sha, tree: common.commit.tree.sha, ahead, behind }
  } catch (error) {
    const { status, message: why } = error as { readonly status?: unknown; readonly message?: unknown }
    if (status === 404 && /no common ancestor/i.test(String(why))) return undefined
    throw githubError(message`compare two commits of ${repositoryPart({ owner, repo })}`, error)
  }
}

/**
 * Whether this is certainly the only best common ancestor. A criss-cross history has several, and git merges those first,
 * while GitHub names one. Each other one is a parent of a commit that one side alone has; ancestors of the known one are none.
 */
export async function isOnlyMergeBase(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  { commit, ahead, behind }: MergeBase,
  base: string,
  head: string,
): Promise<boolean> {
  if (Math.min(ahead, behind) > MOST_COMMITS) return false
  const basehead = ahead <= behind ? `${base}...${head}` : `${head}...${base}`
  const compare = (of: string, page = 1) =>
    octokit.rest.repos.compareCommitsWithBasehead({ owner, repo, basehead: of, per_page: PER_PAGE, page })
  const own = new Map<string, readonly string[]>()
  for (let page = 1; own.size < Math.min(ahead, behind); page++) {
    const { commits } = (await compare(basehead, page)).data
    if (commits.length === 0) return false
    for (const { sha, parents } of commits)
      own.set(
        sha,
        parents.map(parent => parent.sha),
      )
  }
  const places = new Set([...own.values()].flat().filter(sha => !own.has(sha) && sha !== commit))
  if (places.size > MOST_PLACES) return false
  for (const place of places) {
    if ((await compare(`${commit}...${place}`)).data.status !== 'behind') return false
  }
  return true
}
