import { type CheckRun, type OurCheckRun, publishCheckRun } from '../../src/github/checks.ts'
import type { OurRepository } from '../../src/github/client/octokit.ts'
import { checkRunOf } from '../../src/report/check-run.ts'
import { annotatesTheSame, externalIdOf } from '../../src/report/check-run-text.ts'
import { BRANCH_CHECK_NAME, type NamedCheck } from '../../src/verdict/check-names.ts'
import type { CommitOutcome } from './commit-outcome.ts'

/** Facts that the caller already knows. */
export interface PublishOptions {
  /** Our runs of the commit as they were listed; absent: they are listed now. */
  readonly runs?: readonly OurCheckRun[]
  /** Page with the details. */
  readonly detailsUrl?: string | undefined
  /** A run is written although an identical one exists. */
  readonly again?: boolean | undefined
  /** Called before something new is written: what cannot be recorded is not published. */
  readonly record: CheckRun['beforeWrite'] | undefined
}

/** The check of a branch's tip, which no rule requires. */
export const BRANCH_CHECK: NamedCheck = { name: BRANCH_CHECK_NAME, bases: [], followed: [] }

/**
 * Publishes an outcome under the name of one check; no other code does. Returns whether it wrote. The external id
 * describes the content, so publishing the same twice writes once.
 */
export async function publishVerdict(
  repository: OurRepository,
  check: NamedCheck,
  { outcome, context }: Pick<CommitOutcome, 'outcome' | 'context'>,
  { runs, detailsUrl, again = false, record }: PublishOptions,
): Promise<boolean> {
  const run = checkRunOf(outcome, context)
  const externalId = externalIdOf(outcome, run, context.kind, check)
  const say = {
    ...run,
    headSha: context.headSha,
    name: check.name,
    externalId,
    again,
    ...(record ? { beforeWrite: record } : {}),
    sameLines: (present: string) => annotatesTheSame(present, externalId),
    ...(detailsUrl === undefined ? {} : { detailsUrl }),
  }
  const { written } = await publishCheckRun(repository, say, runs)
  return written
}
