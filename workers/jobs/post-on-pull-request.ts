import {
  listPatches,
  listReviewComments,
  removeComment,
  upsertComment,
  writeReview,
} from '../../src/github/comments.ts'
import { pathAuthors } from '../../src/github/people.ts'
import { listOpenPullRequests, mergedPull } from '../../src/github/pull-request.ts'
import type { PostApplied, PostOnPullRequest } from '../../src/receive/queue.ts'
import { APPLIED_MARKER, applyComment } from '../../src/report/apply-comment.ts'
import type { ClusterPage } from '../../src/report/cluster-page.ts'
import { COMMENT_MARKER } from '../../src/report/comment.ts'
import { clusterPath } from '../../src/surface/pages/page-address.ts'
import { ChangedLines, fixIdOf, type OfferedFix, reviewBody, suggestionsOf } from '../../src/verdict/suggestions.ts'
import { openWriter } from '../fleets/github-installation.ts'
import type { WorkerContext, Writer } from '../fleets/worker-context.ts'
import { isOffboarding } from '../tenants/offboarding.ts'

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
    ...(await openWriter(context, data.installation, { ...data, id: repositoryId })),
    pull: data.pull,
    headSha,
    stands: async () => {
      const open = await listOpenPullRequests({ ...data, octokit: await context.app.reader(data.installation) })
      return open.some(({ number, head }) => number === data.pull && head.sha === headSha)
    },
  }
  await postComment(place, body)
  await postSuggestions(place, fixes)
}

/** Sets or removes our one comment on a pull request. Writes only if its text differs, and at most once. */
async function postComment(place: SuggestionPlace, body: string | undefined): Promise<void> {
  const { pull: number, stands } = place
  const { statements } = place.context
  const sticky = { number, marker: COMMENT_MARKER, stands }
  if (body === undefined) return void (await removeComment(place, sticky))
  const known = await statements.commentToChange(place, body)
  const { id, written } = await upsertComment(place, { ...sticky, body, known })
  if (id !== undefined && written) await statements.noteComment(place, id, body)
}

/** The pull request that gets the suggestions. */
interface SuggestionPlace extends Writer {
  readonly pull: number
  readonly headSha: string
  /** Whether that is still its head, by a list whose ETag is known; asked before anything is written. */
  readonly stands: () => Promise<boolean>
}

/**
 * Posts the certain fixes as suggestions on a pull request, each once while it is open; makes no request if there are
 * none. Forks get them too, because their author can commit them.
 */
async function postSuggestions(place: SuggestionPlace, fixes: readonly OfferedFix[]): Promise<void> {
  const { pull, headSha: commit } = place
  if (fixes.length === 0) return
  const comments = await listReviewComments(place, pull)
  const offered = new Set(comments.flatMap(({ body }) => fixIdOf(body) ?? []))
  if (fixes.every(fix => offered.has(fix.id))) return
  const patches = await listPatches(place, pull)
  const changed = new Map([...patches].map(([path, patch]) => [path, new ChangedLines(patch)]))
  const open = comments.filter(({ body, outdated }) => !outdated && fixIdOf(body) !== undefined).length
  const suggestions = suggestionsOf(fixes, changed, { offered, open })
  if (suggestions.length === 0 || !(await place.stands())) return
  await writeReview(place, pull, { commit, body: reviewBody(suggestions), comments: suggestions })
}

/** How many failed nodes of a commit are looked up for the people whom they concern. */
const MAX_ASKED = 5

/**
 * Posts the result of a merged pull request on all clusters, as one comment that is kept up to date. Reads the stored
 * pages of the clusters; without them, or for a commit without a pull request, nothing is written.
 */
export async function postApplied(context: WorkerContext, data: PostApplied): Promise<void> {
  const { owner, repo, sha } = data
  const pages = await pagesOf(context, data)
  const [first] = pages
  if (!first) return
  const facts = {
    here: first.repository,
    commit: sha,
    authors: new Map<string, readonly string[]>(),
    page: (cluster: string) => {
      const { publicUrl } = context.pages
      return publicUrl === undefined ? undefined : `${publicUrl}${clusterPath(owner, repo, cluster)}`
    },
  }
  if (applyComment(pages, facts) === undefined) return
  const place = await openWriter(context, data.installation, { ...data, id: first.repositoryId })
  const pull = await mergedPull(place, sha)
  if (!pull) return
  if (isOffboarding(pull.branch)) {
    await context.queue.add('settle-offboarding', { installation: data.installation, owner, repo, pull: pull.number })
  }
  const failed = pages.flatMap(({ nodes }) => nodes.filter(one => one.phase === 'failed' && one.since === sha))
  for (const { key, paths = [], repository } of failed.slice(0, MAX_ASKED)) {
    if (repository === first.repository) facts.authors.set(key, await pathAuthors(place, pull, paths))
  }
  const body = applyComment(pages, facts)!
  await upsertComment(place, { number: pull.number, marker: APPLIED_MARKER, body })
}

async function pagesOf({ bindings, pages: { store } }: WorkerContext, { owner, repo }: PostApplied) {
  const bound = bindings.filter(({ mode }) => mode === 'reconcile')
  const found = await Promise.all(bound.map(({ name }) => store.cluster(owner, repo, name)))
  return found.filter((page): page is ClusterPage => page !== undefined)
}
