import { BailiwickError } from '../../src/errors.ts'
import type { Visibility } from '../../src/fleet/model/visibility.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import { checkPath } from '../../src/pages/page-address.ts'
import { within } from '../../src/queue/within.ts'
import type { Outcome } from '../../src/report/outcome.ts'
import type { PageCommit, PagePull } from '../../src/report/page/check-page.ts'
import { checkPageOf } from '../../src/report/page/check-page-of.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { CommitOutcome } from '../evaluate/commit-outcome.ts'
import { readFixes, textsOf } from '../evaluate/read-fixes.ts'

/** Longer than a store that works ever takes. */
const LIMIT_MS = 2_000

/**
 * Stores the details page of a check and returns its address; undefined if pages are off. If the store fails, the
 * verdict is published anyway, and the address shows how to create the page again.
 */
export async function keepPage(
  { pages: { store, publicUrl }, metrics, log }: WorkerContext,
  { owner, repo, repositoryId, visibility }: PageOwner,
  check: string,
  evaluated: CommitOutcome,
  about?: PullRequest | PageCommit,
): Promise<string | undefined> {
  const { outcome, context, tree } = evaluated
  metrics.verdictReached(context.kind, resultOf(outcome))
  if (publicUrl === undefined) return undefined
  const at = new Date().toISOString()
  const fixes = readFixes(evaluated)
  const place = {
    ...{ owner, repo, check, at, visibility },
    ...(repositoryId === undefined ? {} : { repositoryId }),
    ...(about && ('number' in about ? { pull: pagePull(about) } : { commit: about })),
    ...(fixes.length > 0 ? { fixes } : {}),
  }
  const page = checkPageOf(outcome, context, place, tree && textsOf(tree))
  const kept = await within(LIMIT_MS, store.keep(page)).catch(err => {
    log.warn({ err }, 'page could not be stored')
    return true
  })
  if (kept !== true) log.warn({ kept, page: `${owner}/${repo}@${context.headSha}` }, 'page was not stored')
  return `${publicUrl}${checkPath({ owner, repo, sha: context.headSha, check })}`
}

function pagePull({ number, title, author, head, base }: PullRequest): PagePull {
  const branch = head.fork ? `${head.repository ?? 'deleted fork'}:${head.ref}` : head.ref
  return { number, title: title.slice(0, 300), author: author?.login ?? '', head: branch, base: base.ref }
}

function resultOf(outcome: Outcome): string {
  if (outcome === undefined) return 'untouched'
  return outcome instanceof BailiwickError ? 'error' : outcome.result
}

/** The repository that a page is about. */
export interface PageOwner {
  readonly owner: string
  readonly repo: string
  /** GitHub's id: whoever has the name later does not get the page. */
  readonly repositoryId?: number
  readonly visibility: Visibility
}
