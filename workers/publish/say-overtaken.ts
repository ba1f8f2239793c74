import { publishCheckRun } from '../../src/github/checks/check-run.ts'
import type { OurCheckRun } from '../../src/github/checks/list-check-runs.ts'
import type { PublishTarget } from './say-verdict.ts'

/**
 * Ends what was announced under these names on a commit that is no longer what was evaluated: nothing is left in progress,
 * and `cancelled` lets nothing pass. Writes nothing where nothing was announced. `runs`: our runs of the commit.
 */
export async function sayOvertaken(
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
