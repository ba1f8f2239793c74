import { removeComment, upsertComment } from '../../src/github/comments/comment.ts'
import { readPullRequest } from '../../src/github/pulls/pull-request.ts'
import type { SayOnPullRequest } from '../../src/queue/queue.ts'
import { COMMENT_MARKER } from '../../src/report/comment.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { openPlace } from '../publish/open-place.ts'
import { type SuggestionPlace, saySuggestions } from '../publish/say-suggestions.ts'

/**
 * Makes the comment and the suggestions on a pull request say what was evaluated last: a job of its own, because GitHub asks
 * for three seconds between two comments, and no check waits for that. What was evaluated and is kept nowhere any more is
 * evaluated again; of a head that moved since, nothing is written: its own event has a job.
 */
export async function sayOnPullRequest(context: WorkerContext, data: SayOnPullRequest): Promise<void> {
  const statement = await context.statements.of(data)
  if (!statement) return context.queue.add('validate-pull-request', data)
  const { repositoryId, headSha, body, fixes } = statement
  const place = {
    ...(await openPlace(context, data, repositoryId)),
    pull: data.pull,
    headSha,
    stands: async () => {
      const pull = await readPullRequest(await context.app.reader(data.installation), data, data.pull)
      return pull?.state === 'open' && pull.head.sha === headSha
    },
  }
  await sayComment(place, body)
  await saySuggestions(place, fixes)
}

/**
 * Makes the one comment of ours on a pull request say this, or takes it away. Writes only when its text is another one,
 * and at most once.
 */
async function sayComment(place: SuggestionPlace, body: string | undefined): Promise<void> {
  const { octokit, app, pull: number, stands } = place
  const sticky = { number, marker: COMMENT_MARKER, stands }
  if (body === undefined) await removeComment(octokit, app, place, sticky)
  else await upsertComment(octokit, app, place, { ...sticky, body })
}
