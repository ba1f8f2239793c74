import { listOurCheckRuns } from '../../src/github/checks/list-check-runs.ts'
import { listPullRequestsOf, readPullRequest } from '../../src/github/pulls/pull-request.ts'
import type { EvaluateCommit } from '../../src/queue/queue.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { openRepository } from '../fleets/open-repository.ts'
import { dropPull } from '../gate/keep-pulls.ts'
import { isUnasked, supersedeRuns } from '../gate/supersede-runs.ts'
import { openPlace } from '../publish/open-place.ts'

/** Enqueues an evaluation of every open pull request with this head commit. Doing it twice has no further effect. */
export async function evaluateCommit(context: WorkerContext, data: EvaluateCommit): Promise<void> {
  const { installation, owner, repo, sha } = data
  if (data.closed !== undefined) await dropPull(context, data, data.closed)
  const octokit = await context.app.reader(installation)
  const pulls = await listPullRequestsOf(octokit, { owner, repo }, sha)
  const asked = data.rerun ? { rerun: data.rerun } : {}
  for (const { number: pull } of pulls) {
    await context.queue.add('validate-pull-request', { installation, owner, repo, pull, ...asked })
  }
  if (pulls.length === 0) await takeBack(context, data)
}

/** Whoever opens a pull request again that was closed without a merge waits for a verdict about what its base is then. */
async function takeBack(context: WorkerContext, data: EvaluateCommit): Promise<void> {
  if (data.closed === undefined) return
  const octokit = await context.app.reader(data.installation)
  const pull = await readPullRequest(octokit, data, data.closed)
  if (!pull || pull.state === 'open' || pull.merged) return
  const subject = await openRepository(context, data, octokit)
  if (!subject || subject.repository.archived) return
  const place = await openPlace(context, data, subject.repository.id)
  await supersedeRuns(
    async () => place,
    await listOurCheckRuns(octokit, place.app, data, data.sha),
    run => isUnasked(run, []),
  )
}
