import { BailiwickError, type ErrorCode } from '../../src/errors.ts'
import { listOurCheckRuns } from '../../src/github/checks/list-check-runs.ts'
import { readPullRequest } from '../../src/github/pulls/pull-request.ts'
import type { ReportDeadCommit, ReportDeadPullRequest } from '../../src/queue/queue.ts'
import type { ReportContext } from '../../src/report/outcome.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { openRepository } from '../fleets/open-repository.ts'
import { readBases } from '../gate/repository-bases.ts'
import { begun } from '../gate/staleness.ts'
import { openPlace } from '../publish/open-place.ts'
import { BRANCH_CHECK, publishVerdict } from '../publish/publish-verdict.ts'
import { recordVerdict } from '../trail/record-verdict.ts'

/** Publishes on the present head of an open pull request that it could not be evaluated, and that it will be tried again. */
export async function reportDeadPullRequest(context: WorkerContext, data: ReportDeadPullRequest): Promise<void> {
  const octokit = await context.app.reader(data.installation)
  const pull = await readPullRequest(octokit, data, data.pull)
  if (pull?.state !== 'open') return
  await publishUndecided(context, data, { sha: pull.head.sha, kind: 'pull-request', base: pull.base.ref })
}

/** Publishes on a commit that it could not be evaluated, and that it will be tried again. */
export async function reportDeadCommit(context: WorkerContext, data: ReportDeadCommit): Promise<void> {
  const { sha, base } = data
  await publishUndecided(
    context,
    data,
    base === undefined ? { sha, kind: 'branch' } : { sha, kind: 'merge-group', base },
  )
}

interface DeadCommit {
  readonly sha: string
  readonly kind: ReportContext['kind']
  /** What it would be merged into; absent for the tip of a branch. */
  readonly base?: string
}

async function publishUndecided(
  context: WorkerContext,
  data: ReportDeadPullRequest | ReportDeadCommit,
  { sha: headSha, kind, base }: DeadCommit,
): Promise<void> {
  const subject = await openRepository(context, data)
  if (!subject) return
  const { repository, octokit } = subject
  const place = await openPlace(context, data, repository.id)
  const bases = await readBases(context, subject)
  const checks = base === undefined ? [BRANCH_CHECK] : await bases.checksOf([base])
  const runs = await listOurCheckRuns(octokit, place.app, place, headSha)
  const evaluated = { outcome: gaveUp(data.why), context: { kind, repository: repository.url, headSha } }
  for (const check of checks) {
    const last = runs.find(({ name }) => name === check.name)
    // a later job reached a verdict meanwhile; GitHub's times are whole seconds
    if (last?.status === 'completed' && begun(last) > data.at) continue
    const at = { ...data, ...('pull' in data ? { pull: data.pull } : {}) }
    const record = () => recordVerdict(context, at, place.app, check.name, evaluated)
    await publishVerdict(place, check, evaluated, { runs, record })
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
