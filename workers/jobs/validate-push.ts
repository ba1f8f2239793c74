import { listOpenPullRequests } from '../../src/github/pull-request.ts'
import type { Attempt, ValidatePush } from '../../src/receive/queue.ts'
import { affectedPlaces, evaluateChange, type FleetAnswer } from '../fleets/evaluate-change.ts'
import { readFleets } from '../fleets/evaluate-revision-set.ts'
import { openRepository } from '../fleets/github-installation.ts'
import type { Pin } from '../fleets/source-reader.ts'
import type { OpenedRepository, WorkerContext } from '../fleets/worker-context.ts'
import { type CommitOutcome, outcomeOf } from '../gate/commit-outcome.ts'
import { keepFleetPages, keepPage, type PageOwner, pageCommitOf } from '../gate/keep-pages.ts'
import { HeadRuns } from '../gate/publish-checks.ts'
import {
  BRANCH_CHECK,
  openPlace,
  type PublishOptions,
  type PublishTarget,
  publishVerdict,
} from '../gate/publish-verdict.ts'
import { recordVerdict } from '../gate/record-decision.ts'
import { settleFollowed } from '../gate/settle.ts'
import { asBailiwickError, isTriedAgain } from '../job-error.ts'

/** Delay between the jobs of one push, so that a hundred pull requests are not a burst. */
const SPREAD_MS = 300
const LATEST_MS = 60_000

/**
 * Evaluates one commit of a branch in its revision set and publishes the verdict, then enqueues the clusters that
 * follow the branch and the open pull requests that the push can affect: those into the branch, and those of other
 * repositories that the change reaches.
 */
export async function validatePush(context: WorkerContext, data: ValidatePush, attempt: Attempt): Promise<void> {
  const subject = await openRepository(context, data)
  if (!subject) return
  const { installation, repository } = subject
  const place = await openPlace(context, data, repository.id)
  const head = { url: repository.url, branch: data.branch, commit: data.sha }
  const asked = { attempt, again: data.rerun }
  const answers = await evaluateCommit(context, subject, place, head, asked)
  if (answers.length === 0) return wakeLenders(context, subject, data)
  const urls = answers.map(answer => answer.place.repository.url)
  await wakeClusters(context, urls)
  // only now: whatever fails here, the verdict on the commit stands
  await settleFollowed(context, subject, head, data.before, answers)
  await evaluateConcerned(context, subject, data, head, answers)
  await keepFleetPages(context, installation, answers)
}

/** Publishes on the commit what fleets that read the branch find. Empty if none does, or it could not be evaluated. */
async function evaluateCommit(
  context: WorkerContext,
  subject: OpenedRepository,
  place: PublishTarget,
  head: Pin,
  { attempt, again }: { readonly attempt: Attempt; readonly again: boolean | undefined },
): Promise<readonly FleetAnswer[]> {
  const { installation, repository } = subject
  const { commit: headSha } = head
  const where = { kind: 'branch', repository: repository.url, headSha } as const
  try {
    const answers = await evaluateChange(context, installation, { head })
    if (answers.length === 0) return []
    const { outcome, required: _required, ...statement } = outcomeOf(answers, repository.url, 'branch')
    const evaluated = { outcome, context: { ...where, ...statement } }
    await say(
      context,
      subject,
      { ...place, repositoryId: repository.id, visibility: repository.visibility, again },
      evaluated,
      head.branch,
    )
    return answers
  } catch (error) {
    if (isTriedAgain(error, attempt)) throw error
    context.log.error({ err: error, commit: `${repository.url}@${headSha}` }, 'push could not be evaluated')
    const evaluated = { outcome: asBailiwickError(error), context: where }
    const at = { installation: subject.installation.id, owner: place.owner, repo: place.repo }
    const record = () => recordVerdict(context, at, place.app, BRANCH_CHECK.name, evaluated)
    await publishVerdict(place, BRANCH_CHECK, evaluated, { record })
    return []
  }
}

/** Publishes under a name that no rule requires: a pull request with this commit as its head is evaluated by itself. */
async function say(
  context: WorkerContext,
  subject: OpenedRepository,
  place: PublishTarget & PageOwner & Pick<PublishOptions, 'again'>,
  evaluated: CommitOutcome,
  branch: string,
): Promise<void> {
  const { octokit, installation } = subject
  const { headSha } = evaluated.context
  const head = new HeadRuns({ queue: context.queue, place, headSha, octokit })
  const [commit, present] = await Promise.all([pageCommitOf(context, subject, { branch, sha: headSha }), head.list()])
  const detailsUrl = await keepPage(context, place, BRANCH_CHECK.name, evaluated, commit)
  const where = { installation: installation.id, owner: place.owner, repo: place.repo }
  const record = () => recordVerdict(context, where, place.app, BRANCH_CHECK.name, evaluated)
  const options = { detailsUrl, again: place.again, record }
  await head.withLock(present, runs => publishVerdict(place, BRANCH_CHECK, evaluated, { ...options, runs }))
}

async function evaluateConcerned(
  context: WorkerContext,
  subject: OpenedRepository,
  data: ValidatePush,
  head: Pin,
  answers: readonly FleetAnswer[],
): Promise<void> {
  const { installation, owner, repo } = data
  const open = await listOpenPullRequests(subject.octokit, data)
  const own = open.filter(({ base, head: { sha } }) => base.ref === data.branch || sha === data.sha)
  const wanted = own.map(({ number: pull }) => ({ installation, owner, repo, pull }))
  if (data.before !== undefined) {
    for (const other of await affectedPlaces(context, subject, head, data.before, answers)) {
      const name = { owner: other.owner, repo: other.name }
      const pulls = await listOpenPullRequests(subject.octokit, name)
      wanted.push(...pulls.map(({ number: pull }) => ({ installation, ...name, pull })))
    }
  }
  for (const [index, job] of wanted.entries()) {
    await context.queue.add('validate-pull-request', job, { delayMs: Math.min(index * SPREAD_MS, LATEST_MS) })
  }
}

async function wakeClusters(context: WorkerContext, fleets: readonly string[]): Promise<void> {
  for (const { name, fleet, mode } of context.bindings) {
    if (mode === 'reconcile' && fleets.includes(fleet)) await context.queue.add('reconcile', { cluster: name })
  }
}

/**
 * Evaluates the fleets again that read a branch only because a tenant declares it: nothing is published on its own
 * repository, so its errors are reported on the fleet.
 */
async function wakeLenders(
  context: WorkerContext,
  { installation, repository }: OpenedRepository,
  { branch }: Pick<ValidatePush, 'branch'>,
): Promise<void> {
  for (const { place, commit: sha, sources } of await readFleets(context, installation)) {
    const isLent = sources.some(one => one.lent && one.url === repository.url && one.ref.branch === branch)
    if (!isLent) continue
    const { owner, name: repo } = place.repository
    await context.queue.add('validate-push', { installation: installation.id, owner, repo, branch: place.branch, sha })
  }
}
