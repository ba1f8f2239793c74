import { publishCheckRun } from '../../src/github/check-run.ts'
import type { OurCheckRun } from '../../src/github/list-check-runs.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../../src/github/octokit.ts'
import { rulesAddress } from '../../src/pages/page-address.ts'
import { CHECK_NAME, checkRunOf } from '../../src/report/check-run.ts'
import { annotatesTheSame, externalIdOf } from '../../src/report/external-id.ts'
import type { Outcome, ReportContext } from '../../src/report/outcome.ts'

/** Where a verdict is said. */
export interface Place extends RepositoryName {
  readonly octokit: Octokit
  readonly app: AppIdentity
}

/** What the caller knows already. */
export interface SayOptions {
  /** Our runs of the commit as they were listed; absent: they are listed now. */
  readonly runs?: readonly OurCheckRun[]
  /** Page with the details. */
  readonly detailsUrl?: string | undefined
}

/** Publishes the check run of an outcome on its commit; whether it wrote. Its id says what is said, so saying it twice writes once. */
export async function sayVerdict(
  place: Place,
  outcome: Outcome,
  context: ReportContext,
  { runs, detailsUrl }: SayOptions = {},
): Promise<boolean> {
  const rulesUrl = detailsUrl === undefined ? {} : { rulesUrl: rulesAddress(detailsUrl) }
  const run = checkRunOf(outcome, { ...context, ...rulesUrl })
  const externalId = externalIdOf(outcome, run, context.kind)
  const say = {
    ...run,
    headSha: context.headSha,
    name: CHECK_NAME,
    externalId,
    sameLines: (present: string) => annotatesTheSame(present, externalId),
    ...(detailsUrl === undefined ? {} : { detailsUrl }),
  }
  const { written } = await publishCheckRun(place.octokit, place.app, place, say, runs)
  return written
}
