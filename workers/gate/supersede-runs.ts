import { isTenancyCheck, SUPERSEDED_CHECK_NAME } from '../../src/gate/check-names.ts'
import type { OurCheckRun } from '../../src/github/checks/list-check-runs.ts'
import { renameCheckRuns } from '../../src/github/checks/rename-check-runs.ts'
import type { PublishTarget } from '../publish/publish-verdict.ts'

/**
 * Renames what was published under a name that no pull request of its commit has now: it was about another base, and GitHub
 * would let it count wherever that name is required later. `runs`: the latest of each name; `expected`: names that count.
 */
export async function supersedeRuns(
  { octokit, app, owner, repo }: PublishTarget,
  runs: readonly OurCheckRun[],
  expected: ReadonlySet<string>,
): Promise<void> {
  for (const { name: from, headSha } of runs) {
    if (!isTenancyCheck(from) || expected.has(from)) continue
    await renameCheckRuns(octokit, app, { owner, repo }, { headSha, from, to: SUPERSEDED_CHECK_NAME })
  }
}
