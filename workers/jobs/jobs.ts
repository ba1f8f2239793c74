import { BailiwickError, type ErrorCode } from '../../src/base/errors.ts'
import { listOurCheckRuns } from '../../src/github/checks.ts'
import { readPullRequest } from '../../src/github/pull-request.ts'
import type {
  Attempt,
  JobName,
  Jobs,
  ReportDeadCommit,
  ReportDeadPullRequest,
  SettleChecks,
} from '../../src/receive/queue.ts'
import type { ReportContext } from '../../src/report/outcome.ts'
import { openCase, openWriter } from '../fleets/github-installation.ts'
import type { Case, WorkerContext } from '../fleets/worker-context.ts'
import { readBases } from '../gate/bases.ts'
import { BRANCH_CHECK, publishVerdict } from '../gate/publish-checks.ts'
import { recordVerdict } from '../gate/record-decision.ts'
import { begun, settleAndAsk } from '../gate/settle.ts'
import { settleOffboarding } from '../tenants/offboarding.ts'
import { withdrawAccess } from '../tenants/open-onboarding.ts'
import { checkAction } from './check-action.ts'
import { command } from './command.ts'
import { evaluateCommit, evaluateFollowers } from './evaluate-commit.ts'
import { postApplied, postOnPullRequest } from './post-on-pull-request.ts'
import { redeliverer } from './redeliver.ts'
import { survey } from './survey.ts'
import { sweepInstallation } from './sweep-installation.ts'
import { tenantRequest } from './tenant-request.ts'
import { validateMergeGroup } from './validate-merge-group.ts'
import { validatePullRequest, verifyMerge } from './validate-pull-request.ts'
import { validatePush } from './validate-push.ts'
import { writeTrail } from './write-trail.ts'

/** A kind of job and its handler. */
interface Work {
  readonly name: JobName
  /** Takes jobs of this kind from the queue from now on. */
  start(context: WorkerContext): void
}

const VALIDATIONS_AT_ONCE = 4
/** Comments mostly wait for their installation's turn to write. */
const COMMENTS_AT_ONCE = 4

/** Every kind of job and its handler, except `reconcile`, which has a queue per cluster. */
export const jobs: readonly Work[] = [
  work('validate-pull-request', validatePullRequest, VALIDATIONS_AT_ONCE),
  work('verify-merge', verifyMerge),
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

/** `atOnce`: how many of them run in parallel in one process. */
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
        dead: (data, error) => buryJob(context, { name, data } as DeadJob, error),
      }),
  }
}

/**
 * Updates the checks of one repository after its gated bases changed: renames those that no longer count, then enqueues an
 * evaluation where a verdict is missing.
 */
async function settleChecks(context: WorkerContext, data: SettleChecks, attempt: Attempt): Promise<void> {
  const subject = await openCase(context, data, attempt)
  if (subject && !subject.repository.archived) await settleAndAsk(subject)
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

type DeadJob = { readonly [N in JobName]: { readonly name: N; readonly data: Jobs[N] } }[JobName]

/**
 * Adds a job that reports a failed job, if that owed a check run: it must not stay open, or stay green. It is a separate job
 * because what ended this one (an outage, a bug, a limit) may prevent a report now.
 */
async function buryJob({ queue, log }: WorkerContext, { name, data }: DeadJob, error: unknown): Promise<void> {
  log.error({ job: name, data, err: error }, 'job failed permanently')
  const report = { why: error instanceof BailiwickError ? error.code : 'internal', at: Date.now() }
  if (name === 'validate-pull-request') {
    const { installation, owner, repo, pull } = data
    await queue.add('report-dead-pull-request', { installation, owner, repo, pull, ...report })
  } else if (name === 'validate-push' || name === 'validate-merge-group') {
    const { installation, owner, repo, branch, sha } = data
    const base = name === 'validate-merge-group' ? { base: branch } : {}
    await queue.add('report-dead-commit', { installation, owner, repo, sha, ...base, ...report })
  }
}

/** Publishes on the head of an open pull request that it could not be evaluated, and that it will be retried. */
async function reportDeadPullRequest(context: WorkerContext, data: ReportDeadPullRequest, attempt: Attempt) {
  const subject = await openCase(context, data, attempt)
  const pull = subject && (await readPullRequest(subject, data.pull))
  if (pull?.state !== 'open') return
  await publishUndecided(subject, data, { sha: pull.head.sha, kind: 'pull-request', base: pull.base.ref })
}

/** Publishes on a commit that it could not be evaluated, and that it will be tried again. */
async function reportDeadCommit(context: WorkerContext, data: ReportDeadCommit, attempt: Attempt) {
  const { sha, base } = data
  const kind = base === undefined ? 'branch' : 'merge-group'
  await publishUndecided(await openCase(context, data, attempt), data, { sha, kind, base })
}

interface DeadCommit {
  readonly sha: string
  readonly kind: ReportContext['kind']
  /** What it would be merged into; undefined for the tip of a branch. */
  readonly base: string | undefined
}

async function publishUndecided(
  subject: Case | undefined,
  data: ReportDeadPullRequest | ReportDeadCommit,
  { sha: headSha, kind, base }: DeadCommit,
): Promise<void> {
  if (!subject) return
  const { context, repository } = subject
  const writer = await openWriter(context, data.installation, repository)
  const bases = await readBases(subject)
  const checks = base === undefined ? [BRANCH_CHECK] : await bases.checksOf([base])
  const runs = await listOurCheckRuns(subject, headSha)
  const evaluated = { outcome: gaveUp(data.why), context: { kind, repository: repository.url, headSha } }
  for (const check of checks) {
    const last = runs.find(({ name }) => name === check.name)
    // a later job reached a verdict meanwhile; GitHub's times are whole seconds
    if (last?.status === 'completed' && begun(last) > data.at) continue
    const pull = 'pull' in data ? data.pull : undefined
    const record = () => recordVerdict(writer, pull, check.name, evaluated)
    await publishVerdict(writer, check, evaluated, { runs, record })
  }
}

function gaveUp(why: string): BailiwickError {
  const outage = why === 'github-unavailable'
  return new BailiwickError(
    why as ErrorCode,
    outage ? 'GitHub did not respond, and all attempts failed' : `Bailiwick gave up after several tries (${why})`,
    { fix: 'Bailiwick retries within the hour. To retry now, re-run the check or push again.' },
  )
}
