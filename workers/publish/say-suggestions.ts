import { ChangedLines } from '../../src/fix/changed-lines.ts'
import { fixIdOf, type OfferedFix, reviewBody, suggestionsOf } from '../../src/fix/suggestions.ts'
import { listPatches, listReviewComments, writeReview } from '../../src/github/comments/review.ts'
import type { PublishTarget } from './say-verdict.ts'

/** The pull request that suggestions are made on. */
export interface SuggestionPlace extends PublishTarget {
  readonly pull: number
  readonly headSha: string
  /** Whether that is its head still; asked before anything is written. */
  readonly stands: () => Promise<boolean>
}

/**
 * Offers the certain fixes as suggestions on the lines of a pull request, each once for as long as it is open; asks
 * nothing of GitHub where there is none. A fork's are offered, too: whoever opened it commits them.
 */
export async function saySuggestions(place: SuggestionPlace, fixes: readonly OfferedFix[]): Promise<void> {
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
  await writeReview(octokit, place, pull, { commit, body: reviewBody(suggestions.length), comments: suggestions })
}
