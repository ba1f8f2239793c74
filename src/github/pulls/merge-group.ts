import { message } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/**
 * Numbers of all pull requests of a merge queue's commit down to the commit `base` of the branch: the name of each branch
 * that GitHub makes for the queue holds the commit that it stands on. Undefined where that does not lead down to `base`.
 */
export async function pullsOfMergeGroup(
  octokit: Octokit,
  repository: RepositoryName,
  branch: string,
  group: { readonly sha: string; readonly base: string },
): Promise<readonly number[] | undefined> {
  const entries = new Map((await entriesOf(octokit, repository, branch)).map(entry => [entry.sha, entry]))
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
 * Number of the pull request that a merge queue's commit adds to what stands before it, by the branch that GitHub makes for
 * it: `gh-readonly-queue/<branch>/pr-<number>-<sha>`. Undefined where the group is gone. Nobody but GitHub writes there.
 */
export async function pullOfMergeGroup(
  octokit: Octokit,
  repository: RepositoryName,
  branch: string,
  sha: string,
): Promise<number | undefined> {
  return (await entriesOf(octokit, repository, branch)).find(entry => entry.sha === sha)?.pull
}

interface QueueEntry {
  readonly sha: string
  readonly pull: number
  /** The commit that it stands on. */
  readonly base: string
}

async function entriesOf(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  branch: string,
): Promise<readonly QueueEntry[]> {
  const prefix = `gh-readonly-queue/${branch}/`
  const refs = await github(message`read the merge queue of ${repositoryPart({ owner, repo })}`, () =>
    octokit.paginate(octokit.rest.git.listMatchingRefs, { owner, repo, ref: `heads/${prefix}` }),
  )
  return refs.flatMap(({ ref, object }) => {
    if (!ref.startsWith(`refs/heads/${prefix}`)) return []
    const name = ref.slice(`refs/heads/${prefix}`.length)
    const [, number, base] = /^pr-(\d{1,9})-([\da-f]{40,64})$/.exec(name) ?? []
    return number && base ? [{ sha: object.sha, pull: Number(number), base }] : []
  })
}
