import type { OurCheckRun } from '../src/github/list-check-runs.ts'
import {
  assertComputed,
  type ListedPullRequest,
  listOpenPullRequests,
  type PullRequest,
  readPullRequest,
} from '../src/github/pull-request.ts'
import type { Attempt, ValidatePullRequest } from '../src/queue/queue.ts'
import { CHECK_NAME } from '../src/report/check-run.ts'
import { isOfBranch } from '../src/report/external-id.ts'
import { findRepository } from './combination/find-repository.ts'
import { githubInstallation } from './combination/github-installation.ts'
import { announceSlow, watched } from './verdict/announce-slow.ts'
import { blocks } from './verdict/blocks.ts'
import { HeadRuns } from './verdict/head-runs.ts'
import type { Said, Subject } from './verdict/judge-pull-request.ts'
import { type JudgedPull, judgeWithCircumstances } from './verdict/judge-with-circumstances.ts'
import { keepPage } from './verdict/keep-page.ts'
import { openPlace } from './verdict/open-place.ts'
import { sayComment } from './verdict/say-comment.ts'
import { sayOvertaken } from './verdict/say-overtaken.ts'
import { saySuggestions } from './verdict/say-suggestions.ts'
import { sayVerdict } from './verdict/say-verdict.ts'
import { withWorse, worstOfHead } from './verdict/worst-of-head.ts'
import type { WorkerContext } from './worker-context.ts'

/**
 * Judges a pull request as it would be merged now, and says so on its head; drafts and forks as well. Doing it twice says
 * the same thing once. A verdict is said only while head and base are those that it is about.
 */
export async function validatePullRequest(context: WorkerContext, data: ValidatePullRequest, attempt: Attempt) {
  const octokit = await context.app.reader(data.installation)
  const pull = await readPullRequest(octokit, data, data.pull)
  if (pull?.state !== 'open') return
  // nothing else is asked for before GitHub knows; at the end of all patience it is said
  if (!attempt.lastAttempt) assertComputed(data, pull)
  const installation = githubInstallation(context, data.installation, octokit)
  const repository = await findRepository(installation, { owner: data.owner, repo: data.repo })
  if (!repository) return
  const place = await openPlace(context, data, repository.id)
  const subject: Subject = { installation, repository, octokit }
  const headSha = pull.head.sha
  const { list: runs, alone } = new HeadRuns({ queue: context.queue, place, headSha, octokit })
  const announced = announceSlow({ place, headSha, runs, alone, log: context.log })
  let own: JudgedPull
  try {
    own = await judgeWithCircumstances(watched(context, announced), subject, pull, runs, attempt)
  } finally {
    await announced.end()
  }
  // the others with this head are looked up last: this listing shows what moved meanwhile as well
  const open = await listOpenPullRequests(octokit, data)
  const present = (await announced.end()) ?? (await runs())
  if (!stands(pull, open)) return alone(present, latest => sayOvertaken(place, headSha, latest))
  const siblings = open.filter(one => one.head.sha === headSha && one.number !== pull.number)
  const others: JudgedPull[] = []
  for (const { number } of siblings) {
    const other = await readPullRequest(octokit, data, number)
    if (other?.state !== 'open' || other.head.sha !== headSha) continue
    others.push(await judgeWithCircumstances(context, subject, other, runs, attempt))
  }
  if (others.length > 0 && !sameHeads(open, await listOpenPullRequests(octokit, data), headSha)) {
    return context.queue.add('validate-pull-request', data)
  }
  const shown = worstOfHead([own, ...others])
  const detailsUrl = await keepPage(context, { ...data, repositoryId: repository.id }, shown)
  const written = await alone(
    present,
    async latest =>
      !saysLess(shown, latest) && sayVerdict(place, shown.outcome, shown.context, { runs: latest, detailsUrl }),
  )
  // writes may wait long for their turn: one that lets pass is looked at again for who came to share the head meanwhile
  if (written && !blocks(shown) && !sameHeads(open, await listOpenPullRequests(octokit, data), headSha)) {
    await context.queue.add('validate-pull-request', data)
  }
  await sayComment(place, pull, withWorse(own, shown), detailsUrl)
  await saySuggestions(place, subject, pull, own.said)
}

/** A verdict about an older head or another base is never said of this one: its own event has a job of its own. */
function stands(pull: PullRequest, open: readonly ListedPullRequest[]): boolean {
  const now = open.find(one => one.number === pull.number)
  return now?.head.sha === pull.head.sha && now.base.ref === pull.base.ref
}

/**
 * Whether a pull request touches nothing while its head, as a branch that is followed has it, is red: the check says so
 * still. Anybody could open one onto any branch, and the red commit would look green.
 */
function saysLess(shown: Said, runs: readonly OurCheckRun[]): boolean {
  const last = runs.find(({ name }) => name === CHECK_NAME)
  const isRed = last?.status === 'completed' && last.conclusion === 'failure' && isOfBranch(last.externalId)
  return isRed && shown.outcome === undefined && !blocks(shown)
}

/** Whether the same pull requests have this head, onto the same branches. */
function sameHeads(one: readonly ListedPullRequest[], other: readonly ListedPullRequest[], sha: string): boolean {
  const of = (list: readonly ListedPullRequest[]) =>
    JSON.stringify(list.filter(({ head }) => head.sha === sha).map(({ number, base }) => [number, base.ref]))
  return of(one) === of(other)
}
