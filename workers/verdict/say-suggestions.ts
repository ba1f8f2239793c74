import type { PullRequest } from '../../src/github/pull-request.ts'
import { listPatches, listReviewComments, writeReview } from '../../src/github/review.ts'
import { ChangedLines } from '../../src/report/fixes/changed-lines.ts'
import { fixIdOf, reviewBody, suggestionsOf } from '../../src/report/fixes/suggestions.ts'
import type { Said, Subject } from './judge-pull-request.ts'
import { fixesAtHead, readFixes } from './read-fixes.ts'
import type { Place } from './say-verdict.ts'

/**
 * Offers the certain fixes as suggestions on the lines of a pull request, each once for as long as it is open; asks
 * nothing of GitHub where there is none. A fork's are offered, too: whoever opened it commits them.
 */
export async function saySuggestions(place: Place, subject: Subject, pull: PullRequest, said: Said): Promise<void> {
  const fixes = readFixes(said)
  if (fixes.length === 0 || !said.tree) return
  const { octokit, app } = place
  const head = await subject.installation.content(subject.repository, pull.head.sha)
  const here = fixesAtHead(fixes, said.tree, head)
  if (here.length === 0) return
  const comments = await listReviewComments(octokit, app, place, pull.number)
  const offered = new Set(comments.flatMap(({ body }) => fixIdOf(body) ?? []))
  if (here.every(fix => offered.has(fix.id))) return
  const patches = await listPatches(octokit, place, pull.number)
  const changed = new Map([...patches].map(([path, patch]) => [path, new ChangedLines(patch)]))
  const open = comments.filter(({ body, outdated }) => !outdated && fixIdOf(body) !== undefined).length
  const suggestions = suggestionsOf(here, changed, { offered, open })
  if (suggestions.length === 0) return
  const body = reviewBody(suggestions.length)
  await writeReview(octokit, place, pull.number, { commit: pull.head.sha, body, comments: suggestions })
}
