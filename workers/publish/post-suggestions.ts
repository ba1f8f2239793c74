import { ChangedLines } from '../../src/fix/changed-lines.ts'
import { fixIdOf, type OfferedFix, reviewBody, suggestionsOf } from '../../src/fix/suggestions.ts'
import { listPatches, listReviewComments, writeReview } from '../../src/github/comments/review.ts'
import type { PublishTarget } from './publish-verdict.ts'

/** The pull request that gets the suggestions. */
export interface SuggestionPlace extends PublishTarget {
  readonly pull: number
  readonly headSha: string
  /** Whether that is its head still; asked before anything is written. */
  readonly stands: () => Promise<boolean>
}

/**
 * Posts the certain fixes as suggestions on a pull request, each once while it is open; makes no request if there are
 * none. Forks get them too, because their author can commit them.
 */
export async function postSuggestions(place: SuggestionPlace, fixes: readonly OfferedFix[]): Promise<void> {
  const { octokit, app, pull, headSha: commit } = place
  if (fixes.length === 0) return
  const comments = await listReviewComments(octokit, app, place, pull)
  const offered = new Set(comments.flatMap(({ body }) => fixIdOf(body) ?? []))
  if (fixes.every(fix => offered.has(fix.id))) return
  const patches = await listPatches(octokit, place, pull)
  const changed = new Map([...patches].map(([path, patch]) => [path, new ChangedLines(patch)]))
  const open = comments.filter(({ body, outdated }) => !outdated && fixIdOf(body) !== undefined).length
  const suggestions = suggestionsOf(fixes, changed, { offered, open })
  if (suggestions.length === 0 || !(await place.stands())) return
  await writeReview(octokit, place, pull, { commit, body: reviewBody(suggestions), comments: suggestions })
}
