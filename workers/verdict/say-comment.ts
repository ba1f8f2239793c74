import { removeComment, upsertComment } from '../../src/github/comment.ts'
import type { PullRequest } from '../../src/github/pull-request.ts'
import { COMMENT_MARKER, commentOf } from '../../src/report/comment.ts'
import type { Said } from './judge-pull-request.ts'
import type { Place } from './say-verdict.ts'

/**
 * Makes the one comment of ours on a pull request say what there is to say, or takes it away. Writes only when its text is
 * another one, and at most once. `page`: address of the details page.
 */
export async function sayComment(place: Place, pull: PullRequest, { outcome, context }: Said, page?: string) {
  const text = commentOf(outcome, page === undefined ? context : { ...context, page })
  const sticky = { number: pull.number, marker: COMMENT_MARKER }
  if (text !== undefined) {
    await upsertComment(place.octokit, place.app, place, { ...sticky, body: text.slice(COMMENT_MARKER.length + 1) })
  } else await removeComment(place.octokit, place.app, place, sticky)
}
