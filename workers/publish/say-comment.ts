import { removeComment, upsertComment } from '../../src/github/comments/comment.ts'
import { COMMENT_MARKER } from '../../src/report/comment.ts'
import type { SuggestionPlace } from './say-suggestions.ts'

/**
 * Makes the one comment of ours on a pull request say this, or takes it away. Writes only when its text is another one,
 * and at most once.
 */
export async function sayComment(place: SuggestionPlace, body: string | undefined): Promise<void> {
  const { octokit, app, pull: number, stands } = place
  const sticky = { number, marker: COMMENT_MARKER, stands }
  if (body === undefined) await removeComment(octokit, app, place, sticky)
  else await upsertComment(octokit, app, place, { ...sticky, body })
}
