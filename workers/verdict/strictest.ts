import { BailiwickError } from '../../src/errors.ts'
import { listPullRequestsOf, readPullRequest } from '../../src/github/pull-request.ts'
import type { Attempt } from '../../src/queue/queue.ts'
import { checkRunOf } from '../../src/report/check-run.ts'
import type { WorkerContext } from '../worker-context.ts'
import { judgePullRequest, type Said, type Subject } from './judge-pull-request.ts'

/**
 * What may be said of a commit: GitHub keeps check runs by commit, and the last one lets every pull request with this
 * head be merged, whatever branch it aims at. So nothing good is said of it before the other ones are judged too.
 * `pull`: the one that `said` is about.
 */
export async function strictest(
  context: WorkerContext,
  subject: Subject,
  said: Said,
  attempt: Attempt,
  pull?: number,
): Promise<Said> {
  if (blocks(said)) return said
  const name = { owner: subject.repository.owner, repo: subject.repository.name }
  const sha = said.context.headSha
  for (const { number } of await listPullRequestsOf(subject.octokit, name, sha)) {
    const other = number === pull ? undefined : await readPullRequest(subject.octokit, name, number)
    if (other?.state !== 'open' || other.head.sha !== sha) continue
    const also = await judgePullRequest(context, subject, other, attempt)
    if (blocks(also) && !isUnmergeable(also)) return also
  }
  return said
}

const blocks = ({ outcome, context }: Said) => checkRunOf(outcome, context).conclusion !== 'success'

/** GitHub itself will not merge it: it needs no verdict to be held. */
const isUnmergeable = ({ outcome }: Said) => outcome instanceof BailiwickError && outcome.code === 'merge-conflict'
