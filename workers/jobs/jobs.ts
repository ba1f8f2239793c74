import type { Attempt, JobName, Jobs, SettleChecks } from '../../src/queue/queue.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { openRepository } from '../fleets/open-repository.ts'
import { settleAndAsk } from '../gate/settle-and-ask.ts'
import { checkAction } from './check-action.ts'
import { command } from './command.ts'
import { buryJob } from './dead-job.ts'
import { evaluateCommit } from './evaluate-commit.ts'
import { evaluateFollowers } from './evaluate-followers.ts'
import { postApplied } from './post-applied.ts'
import { postOnPullRequest } from './post-on-pull-request.ts'
import { redeliverer } from './redeliver.ts'
import { reportDeadCommit, reportDeadPullRequest } from './report-dead.ts'
import { settleOffboarding } from './settle-offboarding.ts'
import { survey } from './survey.ts'
import { sweepInstallation } from './sweep-installation.ts'
import { tenantRequest } from './tenant-request.ts'
import { validateMergeGroup } from './validate-merge-group.ts'
import { validatePullRequest } from './validate-pull-request.ts'
import { validatePush } from './validate-push.ts'
import { withdrawAccess } from './withdraw-access.ts'
import { writeTrail } from './write-trail.ts'

/** A kind of job that has someone who does it. */
interface Work {
  readonly name: JobName
  /** Takes jobs of this kind from the queue from now on. */
  start(context: WorkerContext): void
}

const VALIDATIONS_AT_ONCE = 4
/** They mostly wait for their turn to write, each installation for its own. */
const COMMENTS_AT_ONCE = 4

/** Every kind of job and its handler, except `reconcile`, which has a queue per cluster. */
export const jobs: readonly Work[] = [
  work('validate-pull-request', validatePullRequest, VALIDATIONS_AT_ONCE),
  work('post-on-pull-request', postOnPullRequest, COMMENTS_AT_ONCE),
  work('post-applied', postApplied, COMMENTS_AT_ONCE),
  work('validate-push', validatePush, VALIDATIONS_AT_ONCE),
  work('validate-merge-group', validateMergeGroup, VALIDATIONS_AT_ONCE),
  work('settle-checks', settleChecks),
  work('evaluate-commit', evaluateCommit),
  work('check-action', checkAction),
  work('withdraw-access', withdrawAccess),
  work('settle-offboarding', settleOffboarding),
  work('evaluate-followers', evaluateFollowers),
  work('command', command),
  work('tenant-request', tenantRequest),
  work('write-trail', writeTrail),
  work('survey', survey),
  work('redeliver', redeliverer()),
  work('report-dead-pull-request', reportDeadPullRequest),
  work('report-dead-commit', reportDeadCommit),
  work('sweep', sweep),
  work('sweep-installation', sweepInstallation),
]

/** `atOnce`: how many of them run side by side in one process. */
function work<N extends JobName>(
  name: N,
  run: (context: WorkerContext, data: Jobs[N], attempt: Attempt) => Promise<void>,
  atOnce = 1,
): Work {
  return {
    name,
    start: context =>
      context.queue.work(name, (data, attempt) => run(context, data, attempt), {
        concurrency: atOnce,
        dead: (data, error) => buryJob(context, name, data, error),
      }),
  }
}

/**
 * Updates the checks of one repository after its gated bases changed: renames those that no longer count, then enqueues an
 * evaluation where a verdict is missing.
 */
async function settleChecks(context: WorkerContext, data: SettleChecks): Promise<void> {
  const subject = await openRepository(context, data)
  if (subject && !subject.repository.archived) await settleAndAsk(context, subject)
}

/**
 * Enqueues a sweep of every installation, to find work for which an event never arrived or was lost. Throws
 * `github-unavailable`.
 */
async function sweep({ app, queue }: WorkerContext): Promise<void> {
  for (const { id: installation } of await app.installations()) {
    await queue.add('sweep-installation', { installation })
    await queue.add('survey', { installation })
  }
}
