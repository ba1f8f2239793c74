import { removeComment, upsertComment } from '../../src/github/comments/comment.ts'
import { readPullRequest } from '../../src/github/pulls/pull-request.ts'
import type { PostOnPullRequest } from '../../src/queue/queue.ts'
import { COMMENT_MARKER } from '../../src/report/comment.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { openPlace } from '../publish/open-place.ts'
import { postSuggestions, type SuggestionPlace } from '../publish/post-suggestions.ts'

/**
 * Posts the comment and the suggestions of the last evaluation on a pull request. It is a separate job because GitHub
 * requires three seconds between comments, and no check should wait for that. An expired result is evaluated again. If
 * the head moved, nothing is posted: the new head has its own job.
 */
export async function postOnPullRequest(context: WorkerContext, data: PostOnPullRequest): Promise<void> {
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
  await postComment(place, body)
  await postSuggestions(place, fixes)
}

/**
 * Makes the one comment of ours on a pull request say this, or takes it away. Writes only when its text is another one,
 * and at most once.
 */
async function postComment(place: SuggestionPlace, body: string | undefined): Promise<void> {
  const { octokit, app, pull: number, stands } = place
  const sticky = { number, marker: COMMENT_MARKER, stands }
  if (body === undefined) await removeComment(octokit, app, place, sticky)
  else await upsertComment(octokit, app, place, { ...sticky, body })
}
