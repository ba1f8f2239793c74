import { publishCheckRun } from '../../src/github/checks/check-run.ts'
import type { OurCheckRun } from '../../src/github/checks/list-check-runs.ts'
import type { PublishTarget } from './publish-verdict.ts'

/**
 * Completes announced runs of a commit that was superseded with `cancelled`, so that none stays in progress or passes.
 * Writes nothing if nothing was announced. `runs`: our runs of the commit.
 */
export async function cancelOvertakenRuns(
  place: PublishTarget,
  headSha: string,
  names: readonly string[],
  runs: readonly OurCheckRun[],
): Promise<void> {
  const title = 'Superseded: the pull request changed while it was evaluated'
  const summary = 'The current head and base have a check of their own.'
  for (const name of names) {
    const announced = runs.find(run => run.name === name)
    if (!announced || announced.status === 'completed') continue
    const run = { headSha, name, externalId: '', conclusion: 'cancelled', title, summary, annotations: [] } as const
    await publishCheckRun(place.octokit, place.app, place, run, runs)
  }
}
