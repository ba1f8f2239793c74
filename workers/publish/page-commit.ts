import { readCommitSummary } from '../../src/github/contents/commit-summary.ts'
import { pullsOfMergeGroup } from '../../src/github/pulls/merge-group.ts'
import { readPullRequest } from '../../src/github/pulls/pull-request.ts'
import type { ValidateMergeGroup } from '../../src/queue/queue.ts'
import { within } from '../../src/queue/within.ts'
import type { PageCommit } from '../../src/report/page/check-page.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'

/** A verdict does not wait longer for what only its page shows. */
const LIMIT_MS = 2_000
/** Pull requests of a merge group that a page names. */
const MAX_PULLS = 20

type Asked = Pick<OpenedRepository, 'octokit' | 'repository'>
type PageContext = Pick<WorkerContext, 'pages' | 'log'>

/** What the page of a branch's commit says about the commit: what GitHub does not answer in time is left out. */
export async function pageCommitOf(
  context: PageContext,
  { octokit, repository }: Asked,
  { branch, sha }: { readonly branch: string; readonly sha: string },
): Promise<PageCommit> {
  const name = { owner: repository.owner, repo: repository.name }
  const summary = await inTime(context, () => readCommitSummary(octokit, name, sha))
  return { branch, ...summary }
}

/** The same for a merge group, with the pull requests that the queue merges by it. */
export async function pageCommitOfGroup(
  context: PageContext,
  subject: Asked,
  group: ValidateMergeGroup,
): Promise<PageCommit> {
  const [commit, pulls] = await Promise.all([
    pageCommitOf(context, subject, group),
    inTime(context, () => pullsOf(subject, group)),
  ])
  return { ...commit, ...pulls }
}

async function pullsOf(
  { octokit }: Asked,
  group: ValidateMergeGroup,
): Promise<Pick<PageCommit, 'pulls' | 'morePulls'> | undefined> {
  const numbers = await pullsOfMergeGroup(octokit, group, group.branch, group)
  if (!numbers) return undefined
  const read = numbers.slice(0, MAX_PULLS).map(async number => {
    const pull = await readPullRequest(octokit, group, number)
    return { number, title: pull?.title.slice(0, 300) ?? '', author: pull?.author?.login ?? '' }
  })
  return { pulls: await Promise.all(read), morePulls: Math.max(0, numbers.length - MAX_PULLS) }
}

async function inTime<T>({ pages, log }: PageContext, ask: () => Promise<T | undefined>): Promise<T | undefined> {
  if (pages.publicUrl === undefined) return undefined
  const found = await within(LIMIT_MS, ask()).catch(err => {
    log.warn({ err }, 'commit could not be described on its page')
    return undefined
  })
  return found === 'late' ? undefined : (found as T | undefined)
}
