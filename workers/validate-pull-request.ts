import { removeComment, upsertComment } from '../src/github/comment.ts'
import { readPullRequest } from '../src/github/pull-request.ts'
import type { Attempt, ValidatePullRequest } from '../src/queue/queue.ts'
import { COMMENT_MARKER, commentOf } from '../src/report/comment.ts'
import { findRepository } from './combination/find-repository.ts'
import { githubInstallation } from './combination/github-installation.ts'
import { judgePullRequest, type Said } from './verdict/judge-pull-request.ts'
import { type Place, sayVerdict } from './verdict/say-verdict.ts'
import { strictest } from './verdict/strictest.ts'
import type { WorkerContext } from './worker-context.ts'

/** Judges a pull request as it would be merged now, and says so on its head. Doing it twice says the same thing once. */
export async function validatePullRequest(context: WorkerContext, data: ValidatePullRequest, attempt: Attempt) {
  const octokit = await context.app.client(data.installation)
  const place: Place = { octokit, app: await context.app.identity(), owner: data.owner, repo: data.repo }
  const pull = await readPullRequest(octokit, data, data.pull)
  if (pull?.state !== 'open') return
  const installation = githubInstallation(context, data.installation, octokit)
  const repository = await findRepository(installation, { owner: data.owner, repo: data.repo })
  if (!repository) return
  const subject = { installation, repository, octokit }
  const said = await judgePullRequest(context, subject, pull, attempt)
  const ofCommit = await strictest(context, subject, said, attempt, pull.number)
  const now = await readPullRequest(octokit, data, data.pull)
  // a verdict about an older head or another base is never said of this one: its own event has a job of its own
  if (now?.head.sha !== pull.head.sha || now.base.ref !== pull.base.ref) return
  await sayVerdict(place, ofCommit.outcome, ofCommit.context)
  await sayComment(place, data.pull, said)
}

async function sayComment(place: Place, pull: number, { outcome, context }: Said): Promise<void> {
  const text = commentOf(outcome, context)
  const sticky = { number: pull, marker: COMMENT_MARKER }
  if (text === undefined) await removeComment(place.octokit, place.app, place, sticky)
  else await upsertComment(place.octokit, place.app, place, { ...sticky, body: text.slice(COMMENT_MARKER.length + 1) })
}
