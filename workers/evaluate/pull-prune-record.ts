import { PRUNE_RUN, readPruneRecord } from '../../src/command/prune-record.ts'
import { listOurCheckRuns } from '../../src/github/checks/list-check-runs.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../../src/github/client/octokit.ts'
import { pullCommits } from '../../src/github/pulls/pull-commits.ts'

type PruneRecord = NonNullable<ReturnType<typeof readPruneRecord>>

/** How many commits of a pull request are asked for an approval: a push that changes nothing of it keeps it. */
const MAX_COMMITS = 10

/** The last approval on a pull request: on its head, or on an earlier commit that it still has. */
export async function pullPruneRecord(
  octokit: Octokit,
  app: AppIdentity,
  repository: RepositoryName,
  { number, head }: { readonly number: number; readonly head: string },
): Promise<PruneRecord | undefined> {
  const own = await pruneRecordOn(octokit, app, repository, head)
  if (own?.pull === number) return own
  const commits = await pullCommits(octokit, repository, number)
  for (const sha of commits.reverse().slice(0, MAX_COMMITS)) {
    const record = sha === head ? undefined : await pruneRecordOn(octokit, app, repository, sha)
    if (record?.pull === number) return record
  }
  return undefined
}

/** The record on a commit. */
export async function pruneRecordOn(octokit: Octokit, app: AppIdentity, repository: RepositoryName, sha: string) {
  const runs = await listOurCheckRuns(octokit, app, repository, sha)
  return readPruneRecord(runs.find(({ name }) => name === PRUNE_RUN)?.text ?? '')
}
