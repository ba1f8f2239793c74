import type { NamedCheck } from '../../src/gate/check-names.ts'
import { announceCheckRun } from '../../src/github/checks/announce-check-run.ts'
import type { OurCheckRun } from '../../src/github/checks/list-check-runs.ts'
import { announcementOf } from '../../src/report/announcement.ts'
import { isForBases } from '../../src/report/external-id.ts'
import type { PublishTarget } from '../publish/publish-verdict.ts'

/** Returns the checks of a commit whose passing run was published for other bases. */
export function staleChecks(checks: readonly NamedCheck[], runs: readonly OurCheckRun[]): readonly NamedCheck[] {
  return passingChecks(checks, runs).filter(check => {
    const run = runs.find(one => one.name === check.name)
    return run !== undefined && !isForBases(run.externalId, check)
  })
}

/** Returns the checks whose last run on a commit passes. */
export function passingChecks(checks: readonly NamedCheck[], runs: readonly OurCheckRun[]): readonly NamedCheck[] {
  return checks.filter(check => {
    const run = runs.find(one => one.name === check.name)
    return run?.status === 'completed' && run.conclusion === 'success'
  })
}

/**
 * Restarts each of these checks at once, so that nothing passes before the evaluation. Returns our runs, including the
 * new ones.
 */
export async function openAnew(
  place: PublishTarget,
  headSha: string,
  checks: readonly NamedCheck[],
  runs: readonly OurCheckRun[],
): Promise<readonly OurCheckRun[]> {
  const begun: OurCheckRun[] = []
  for (const { name } of checks) {
    const others = runs.filter(run => run.name !== name)
    const text = { ...announcementOf({ state: 'queued' }), status: 'in_progress' as const }
    const run = await announceCheckRun(place.octokit, place.app, place, { headSha, name, ...text }, others)
    if (run) begun.push(run)
  }
  return [...begun, ...runs.filter(run => !begun.some(({ name }) => name === run.name))]
}
