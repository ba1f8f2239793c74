import type { AppIdentity, Octokit, RepositoryName } from '../../src/github/client/octokit.ts'
import { mergedPull } from '../../src/github/pulls/merged-pull.ts'
import { pruneRecordOn, pullPruneRecord } from '../evaluate/pull-prune-record.ts'

/** What fleet admins allow to be deleted: digests recorded on the commit, and prints on the pull request that it merged. */
export async function pruneApprovals(
  octokit: Octokit,
  app: AppIdentity,
  repository: RepositoryName,
  commit: string,
): Promise<string[]> {
  const present = await pruneRecordOn(octokit, app, repository, commit)
  const pull = await mergedPull(octokit, repository, commit)
  const before = pull && (await pullPruneRecord(octokit, app, repository, pull))
  return [...(present?.digests ?? []), ...(before?.prints ?? [])]
}
