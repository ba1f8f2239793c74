import { hash } from 'node:crypto'
import { publishCheckRun } from '../../src/github/check-run.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../../src/github/octokit.ts'
import { CHECK_NAME, checkRunOf } from '../../src/report/check-run.ts'
import type { Outcome, ReportContext } from '../../src/report/outcome.ts'

/** Where a verdict is said. */
export interface Place extends RepositoryName {
  readonly octokit: Octokit
  readonly app: AppIdentity
}

/** Publishes the check run of an outcome on its commit. The id is a hash of what is said, so saying it twice writes once. */
export async function sayVerdict(place: Place, outcome: Outcome, context: ReportContext): Promise<void> {
  const run = checkRunOf(outcome, context)
  await publishCheckRun(place.octokit, place.app, place, {
    headSha: context.headSha,
    name: CHECK_NAME,
    externalId: hash('sha256', JSON.stringify(run)),
    conclusion: run.conclusion,
    title: run.title,
    summary: run.summary,
    annotations: run.annotations,
  })
}
