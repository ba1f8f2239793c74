import { BailiwickError, type ErrorCode } from '../src/errors.ts'
import { listOurCheckRuns } from '../src/github/list-check-runs.ts'
import { readPullRequest } from '../src/github/pull-request.ts'
import type { SayDeadCommit, SayDeadPullRequest } from '../src/queue/queue.ts'
import { findRepository } from './combination/find-repository.ts'
import { githubInstallation } from './combination/github-installation.ts'
import { begun, verdictRun } from './staleness/staleness.ts'
import { openPlace } from './verdict/open-place.ts'
import { sayVerdict } from './verdict/say-verdict.ts'
import type { WorkerContext } from './worker-context.ts'

/** Says on the present head of an open pull request that it could not be judged, and that it will be tried again. */
export async function sayDeadPullRequest(context: WorkerContext, data: SayDeadPullRequest): Promise<void> {
  const octokit = await context.app.reader(data.installation)
  const pull = await readPullRequest(octokit, data, data.pull)
  if (pull?.state === 'open') await sayUndecided(context, data, pull.head.sha, 'pull-request')
}

/** Says on a commit that it could not be judged, and that it will be tried again. */
export async function sayDeadCommit(context: WorkerContext, data: SayDeadCommit): Promise<void> {
  await sayUndecided(context, data, data.sha, 'branch')
}

async function sayUndecided(
  context: WorkerContext,
  data: SayDeadPullRequest | SayDeadCommit,
  headSha: string,
  kind: 'pull-request' | 'branch',
): Promise<void> {
  const octokit = await context.app.reader(data.installation)
  const repository = await findRepository(githubInstallation(context, data.installation, octokit), data)
  if (!repository) return
  const place = await openPlace(context, data, repository.id)
  const runs = await listOurCheckRuns(octokit, place.app, place, headSha)
  const last = verdictRun(runs)
  // a later job reached a verdict meanwhile; GitHub's times are whole seconds
  if (last?.status === 'completed' && begun(last) > data.at) return
  await sayVerdict(place, gaveUp(data.why), { kind, repository: repository.url, headSha }, { runs })
}

function gaveUp(why: string): BailiwickError {
  const outage = why === 'github-unavailable'
  return new BailiwickError(
    why as ErrorCode,
    outage ? 'GitHub did not answer often enough to judge this' : `Bailiwick gave up after several tries (${why})`,
    { fix: 'It is tried again within the hour. To have it tried now, re-run the check or push again.' },
  )
}
