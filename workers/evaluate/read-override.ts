import { OVERRIDE_RUN, readOverrideRecord } from '../../src/command/record.ts'
import type { HumanDecisions } from '../../src/gate/circumstances.ts'
import type { OurCheckRun } from '../../src/github/checks/list-check-runs.ts'
import { isSince, openedAnew, REOPENED } from '../../src/github/pulls/opened-anew.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'

/**
 * Returns the override of the present head for its base, if there is one. `runs`: our check runs of that head;
 * permission was checked when the run was written, and only our App can write one. Closing the pull request ends the
 * override.
 */
export async function readOverride(
  _context: WorkerContext,
  { octokit, repository }: OpenedRepository,
  pull: PullRequest,
  runs: readonly OurCheckRun[],
): Promise<HumanDecisions['override']> {
  const run = runs.find(({ name, headSha }) => name === OVERRIDE_RUN && headSha === pull.head.sha)
  if (run?.status !== 'completed' || run.conclusion !== 'success') return undefined
  const record = readOverrideRecord(run.text)
  if (record?.pull !== pull.number || record.base !== pull.base.ref) return undefined
  const name = { owner: repository.owner, repo: repository.name }
  if (!isSince(record.at, await openedAnew(octokit, name, pull.number, REOPENED))) return undefined
  const { by, reason, confirmedBy } = record
  return { by: confirmedBy === undefined ? by : `${by}, confirmed by ${confirmedBy}`, reason }
}
