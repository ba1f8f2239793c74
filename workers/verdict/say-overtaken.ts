import { publishCheckRun } from '../../src/github/check-run.ts'
import type { OurCheckRun } from '../../src/github/list-check-runs.ts'
import { CHECK_NAME } from '../../src/report/check-run.ts'
import type { Place } from './say-verdict.ts'

/**
 * Ends what was announced on a commit that is no longer what was judged: nothing is left in progress, and `cancelled` lets
 * nothing pass. Writes nothing where nothing was announced. `runs`: our runs of the commit.
 */
export async function sayOvertaken(place: Place, headSha: string, runs: readonly OurCheckRun[]): Promise<void> {
  const announced = runs.find(({ name }) => name === CHECK_NAME)
  if (!announced || announced.status === 'completed') return
  const title = 'Overtaken: the pull request moved on while it was judged'
  const summary = 'What it holds now, and where it aims now, is judged by itself.'
  const run = {
    headSha,
    name: CHECK_NAME,
    externalId: '',
    conclusion: 'cancelled',
    title,
    summary,
    annotations: [],
  } as const
  await publishCheckRun(place.octokit, place.app, place, run, runs)
}
