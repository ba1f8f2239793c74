import { isTenancyCheck, type NamedCheck, SUPERSEDED_CHECK_NAME } from '../../src/gate/check-names.ts'
import type { OurCheckRun } from '../../src/github/checks/list-check-runs.ts'
import { renameCheckRuns } from '../../src/github/checks/rename-check-runs.ts'
import { isForBases } from '../../src/report/external-id.ts'
import type { PublishTarget } from '../publish/publish-verdict.ts'

/** Whether a run lets something pass now. */
export function passes({ status, conclusion }: OurCheckRun): boolean {
  return status === 'completed' && conclusion === 'success'
}

/** Whether no check of the commit has the name of this run. */
export function isUnasked({ name }: OurCheckRun, checks: readonly NamedCheck[]): boolean {
  return isTenancyCheck(name) && checks.every(check => check.name !== name)
}

/** Whether a run passes what was evaluated for another base than its check is about now. */
export function isOfOtherBase(run: OurCheckRun, checks: readonly NamedCheck[]): boolean {
  return passes(run) && checks.some(check => check.name === run.name && !isForBases(run.externalId, check))
}

/**
 * Renames runs of a commit: GitHub would let them count wherever their name is required. `runs`: the latest of each name.
 * Returns those that stay.
 */
export async function supersedeRuns(
  place: () => Promise<PublishTarget>,
  runs: readonly OurCheckRun[],
  isSuperseded: (run: OurCheckRun) => boolean,
): Promise<readonly OurCheckRun[]> {
  const superseded = runs.filter(isSuperseded)
  for (const { name: from, headSha } of superseded) {
    const { octokit, app, owner, repo } = await place()
    await renameCheckRuns(octokit, app, { owner, repo }, { headSha, from, to: SUPERSEDED_CHECK_NAME })
  }
  return runs.filter(run => !superseded.includes(run))
}
