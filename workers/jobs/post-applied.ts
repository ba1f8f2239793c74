import { upsertComment } from '../../src/github/comments/comment.ts'
import { pathAuthors } from '../../src/github/people/path-authors.ts'
import { mergedPull } from '../../src/github/pulls/merged-pull.ts'
import { clusterPath } from '../../src/pages/page-address.ts'
import type { PostApplied } from '../../src/queue/queue.ts'
import { APPLIED_MARKER, applyComment } from '../../src/report/applied/apply-comment.ts'
import type { ClusterPage } from '../../src/report/applied/cluster-page.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { isOffboarding } from '../offboarding/offboarding-place.ts'
import { openPlace } from '../publish/open-place.ts'

/** How many failed nodes of a commit are looked up for whom they concern. */
const MAX_ASKED = 5

/**
 * Writes what became of a merged pull request on all clusters, as one comment that is brought up to date. It reads the
 * stored pages of the clusters; without them, or for a commit that no pull request brought, nothing is written.
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
  const place = await openPlace(context, data, first.repositoryId)
  const pull = await mergedPull(place.octokit, data, sha)
  if (!pull) return
  if (isOffboarding(pull.branch)) {
    await context.queue.add('settle-offboarding', { installation: data.installation, owner, repo, pull: pull.number })
  }
  const failed = pages.flatMap(({ nodes }) => nodes.filter(one => one.phase === 'failed' && one.since === sha))
  for (const { key, paths = [], repository } of failed.slice(0, MAX_ASKED)) {
    if (repository === first.repository) facts.authors.set(key, await pathAuthors(place.octokit, data, pull, paths))
  }
  const body = applyComment(pages, facts)!
  await upsertComment(place.octokit, place.app, data, { number: pull.number, marker: APPLIED_MARKER, body })
}

async function pagesOf({ bindings, pages: { store } }: WorkerContext, { owner, repo }: PostApplied) {
  const bound = bindings.filter(({ mode }) => mode === 'reconcile')
  const found = await Promise.all(bound.map(({ name }) => store.cluster(owner, repo, name)))
  return found.filter((page): page is ClusterPage => page !== undefined)
}
