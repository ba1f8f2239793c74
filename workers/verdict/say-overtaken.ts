import { publishCheckRun } from '../../src/github/check-run.ts'
import type { OurCheckRun } from '../../src/github/list-check-runs.ts'
import type { Place } from './say-verdict.ts'

/**
 * Ends what was announced under these names on a commit that is no longer what was evaluated: nothing is left in progress,
 * and `cancelled` lets nothing pass. Writes nothing where nothing was announced. `runs`: our runs of the commit.
 */
export async function sayOvertaken(
  place: Place,
  headSha: string,
  names: readonly string[],
  runs: readonly OurCheckRun[],
): Promise<void> {
  const title = 'Overtaken: the pull request moved on while it was judged'
  const summary = 'What it holds now, and where it aims now, is judged by itself.'
  for (const name of names) {
    const announced = runs.find(run => run.name === name)
    if (!announced || announced.status === 'completed') continue
    const run = { headSha, name, externalId: '', conclusion: 'cancelled', title, summary, annotations: [] } as const
    await publishCheckRun(place.octokit, place.app, place, run, runs)
  }
}
