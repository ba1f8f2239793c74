import { type CheckRun, type OurCheckRun, publishCheckRun } from '../../src/github/checks.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../../src/github/client/octokit.ts'
import { checkRunOf } from '../../src/report/check-run.ts'
import { annotatesTheSame, externalIdOf } from '../../src/report/check-run-text.ts'
import { BRANCH_CHECK_NAME, type NamedCheck } from '../../src/verdict/check-names.ts'
import type { WorkerContext } from '../fleets/worker-context.ts'
import type { CommitOutcome } from './commit-outcome.ts'

/** Where a verdict is published. */
export interface PublishTarget extends RepositoryName {
  readonly octokit: Octokit
  readonly app: AppIdentity
}

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
  place: PublishTarget,
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
  const { written } = await publishCheckRun(place.octokit, place.app, place, say, runs)
  return written
}

/** Opens the repository of a job for writing, with a token that is limited to it. */
export async function openPlace(
  context: WorkerContext,
  { installation, owner, repo }: RepositoryName & { readonly installation: number },
  repositoryId: number,
): Promise<PublishTarget> {
  return { ...(await openWriteClient(context, installation, repositoryId)), owner, repo }
}

/**
 * A client that can write to one repository only. Evaluations use another token without write access, so the content of
 * a change cannot cause a write to another repository.
 */
export async function openWriteClient(
  { app }: WorkerContext,
  installation: number,
  repositoryId: number,
): Promise<Pick<PublishTarget, 'octokit' | 'app'>> {
  const [octokit, identity] = await Promise.all([app.client(installation, [repositoryId]), app.identity()])
  return { octokit, app: identity }
}
