import { PRUNE_RUN, readPruneRecord } from '../../src/command/prune-record.ts'
import { listOurCheckRuns } from '../../src/github/checks/list-check-runs.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../../src/github/client/octokit.ts'

/** Digests of what fleet admins allow to be deleted, as recorded on the fleet's commit that is applied. */
export async function pruneApprovals(
  octokit: Octokit,
  app: AppIdentity,
  repository: RepositoryName,
  commit: string,
): Promise<ReadonlySet<string>> {
  const runs = await listOurCheckRuns(octokit, app, repository, commit)
  const record = readPruneRecord(runs.find(({ name }) => name === PRUNE_RUN)?.text ?? '')
  return new Set(record?.digests)
}
