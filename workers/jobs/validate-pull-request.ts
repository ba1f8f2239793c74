import type { NamedCheck } from '../../src/gate/check-names.ts'
import type { OurCheckRun } from '../../src/github/checks/list-check-runs.ts'
import {
  assertComputed,
  type ListedPullRequest,
  listOpenPullRequests,
  type PullRequest,
  readPullRequest,
  readTestMerge,
  type TestMerge,
} from '../../src/github/pulls/pull-request.ts'
import type { Attempt, ValidatePullRequest } from '../../src/queue/queue.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { blocks } from '../evaluate/blocks.ts'
import { evaluateIntoEach } from '../evaluate/evaluate-into.ts'
import { type EvaluatedPull, evaluateWithCircumstances } from '../evaluate/evaluate-with-circumstances.ts'
import { peopleOfPull } from '../evaluate/people-of.ts'
import { isLabeledHold } from '../evaluate/read-hold.ts'
import { statementOf } from '../evaluate/statement-of.ts'
import { withWorse } from '../evaluate/worst-of-head.ts'
import { openRepository } from '../fleets/open-repository.ts'
import { dropPull, keepPull } from '../gate/keep-pulls.ts'
import { openAnew, passingChecks, staleChecks } from '../gate/open-anew.ts'
import { type RepositoryBases, readBases } from '../gate/repository-bases.ts'
import { supersedeRuns } from '../gate/supersede-runs.ts'
import { announceSlow, watched } from '../publish/announce-slow.ts'
import { cancelOvertakenRuns } from '../publish/cancel-overtaken-runs.ts'
import { HeadRuns } from '../publish/head-runs.ts'
import { openPlace } from '../publish/open-place.ts'
import { publishChecks } from '../publish/publish-checks.ts'
import type { PublishTarget } from '../publish/publish-verdict.ts'

/**
 * Evaluates a pull request as it would be merged now, and publishes the checks of its base on its head; drafts and
 * forks too. A base that is not gated gets no check. A repeated job publishes once. A verdict is published only if head
 * and base have not moved.
 */
export async function validatePullRequest(context: WorkerContext, asked: ValidatePullRequest, attempt: Attempt) {
  const { rerun = false, ...data } = asked
  const octokit = await context.app.reader(data.installation)
  const pull = await readPullRequest(octokit, data, data.pull)
  if (pull?.state !== 'open') return dropPull(context, data, data.pull)
  // nothing else is asked for before GitHub knows; at the end of all patience it is published
  if (!attempt.lastAttempt) assertComputed(data, pull)
  const subject = await openRepository(context, data, octokit)
  if (!subject) return
  const place = await openPlace(context, data, subject.repository.id)
  const merging = startMerge(subject, pull)
  await merging.catch(() => undefined) // what is wrong with it is published
  const bases = await readBases(context, subject)
  const checks = await bases.checksOnto(pull.base.ref)
  const head = new HeadRuns({ queue: context.queue, place, headSha: pull.head.sha, octokit })
  const job = { context, data, rerun, attempt, subject, place, pull, bases, checks, head, merging }
  if (checks.length === 0) {
    await dropPull(context, data, data.pull)
    return supersedeRuns(place, await head.list(), await namesOnHead(job))
  }
  await evaluateAndPublish(job)
}

interface PullJob {
  readonly context: WorkerContext
  readonly data: Omit<ValidatePullRequest, 'rerun'>
  readonly rerun: boolean
  readonly attempt: Attempt
  readonly subject: OpenedRepository
  readonly place: PublishTarget
  readonly pull: PullRequest
  readonly bases: RepositoryBases
  /** The checks that it gets. */
  readonly checks: readonly NamedCheck[]
  readonly head: HeadRuns
  readonly merging: Promise<TestMerge>
}

async function evaluateAndPublish(job: PullJob): Promise<void> {
  const { context, data, rerun, attempt, subject, place, pull, checks, head, merging } = job
  const { octokit, repository } = subject
  const names = checks.map(({ name }) => name)
  const begun = await beginAnew(job)
  const runs = async () => begun
  const headSha = pull.head.sha
  const announced = announceSlow({ place, headSha, names, runs, withLock: head.withLock, log: context.log })
  let own: EvaluatedPull
  try {
    own = await evaluateWithCircumstances(watched(context, announced), subject, pull, runs, attempt, merging)
  } finally {
    await announced.end()
  }
  // the others with this head are looked up last: this listing shows what moved meanwhile as well
  const open = await listOpenPullRequests(octokit, data)
  const present = (await announced.end()) ?? begun
  if (!stands(pull, open)) return head.withLock(present, latest => cancelOvertakenRuns(place, headSha, names, latest))
  const others: EvaluatedPull[] = []
  for (const { number } of siblingsOf(pull, open, checks)) {
    const other = await readPullRequest(octokit, data, number)
    if (other?.state !== 'open' || other.head.sha !== headSha) continue
    others.push(await evaluateWithCircumstances(context, subject, other, runs, attempt))
  }
  const led = await evaluateElsewhere(job, [pull, ...others.map(other => other.pull)])
  const moved = async () => !sameHeads(open, await listOpenPullRequests(octokit, data), headSha)
  if (others.length > 0 && (await moved())) return context.queue.add('validate-pull-request', data)
  const owner = { ...data, repositoryId: repository.id, visibility: repository.visibility }
  const { shown, written, detailsUrl } = await head.withLock(present, latest =>
    publishChecks(context, { place, owner, runs: latest, again: rerun }, checks, [own, ...others], led),
  )
  await keepPull(context, subject, pull, { own: own.said, shown, page: detailsUrl })
  await supersedeRuns(place, present, await namesOnHead(job, open))
  // writes may wait long for their turn: one that lets pass is looked at again for who came to share the head meanwhile
  if (written && !blocks(shown) && (await moved())) await context.queue.add('validate-pull-request', data)
  if (written) await enqueueSiblings(job, open)
  const statement = { own: own.said, shown: withWorse(own, shown), page: detailsUrl }
  await context.statements.keep(data, await statementOf(subject, pull, statement))
  await context.queue.add('post-on-pull-request', data)
}

/** Reads the test merge first: it tells where the base stands, which spares command again. */
async function startMerge(
  { installation, repository, octokit }: OpenedRepository,
  pull: PullRequest,
): Promise<TestMerge> {
  const merge = await readTestMerge(octokit, { owner: repository.owner, repo: repository.name }, pull)
  installation.noteHead(repository, pull.base.ref, merge.base, merge.baseTree)
  return merge
}

/** The bases that a check of it is about, and that no open pull request with this head aims at. */
async function evaluateElsewhere({ context, subject, pull, checks, attempt }: PullJob, pulls: readonly PullRequest[]) {
  const aims = new Set(pulls.map(({ base }) => base.ref))
  const elsewhere = new Set(checks.flatMap(({ followed }) => followed).filter(branch => !aims.has(branch)))
  const head = { sha: pull.head.sha, pull, people: peopleOfPull(subject, pull) }
  return evaluateIntoEach(context, subject, head, [...elsewhere].sort(), attempt)
}

/** Our runs of the head, after what lets pass but was published for other bases began again. */
async function beginAnew({ place, pull, checks, head }: PullJob): Promise<readonly OurCheckRun[]> {
  const listed = await head.list()
  // a hold blocks at once: what passes begins again before anything is evaluated
  const stale = isLabeledHold(pull) ? passingChecks(checks, listed) : staleChecks(checks, listed)
  if (stale.length === 0) return listed
  return head.withLock(listed, latest => openAnew(place, pull.head.sha, stale, latest))
}

/** Names that the open pull requests with this head have now. */
async function namesOnHead(
  { data, subject, pull, bases }: PullJob,
  listed?: readonly ListedPullRequest[],
): Promise<ReadonlySet<string>> {
  const open = listed ?? (await listOpenPullRequests(subject.octokit, data))
  const aims = new Set(open.filter(({ head }) => head.sha === pull.head.sha).map(({ base }) => base.ref))
  const found = await Promise.all([...aims].map(aim => bases.checksOnto(aim)))
  return new Set(found.flat().map(({ name }) => name))
}

/** A verdict about an older head or another base is never published on this one: its own event has a job of its own. */
function stands(pull: PullRequest, open: readonly ListedPullRequest[]): boolean {
  const now = open.find(one => one.number === pull.number)
  return now?.head.sha === pull.head.sha && now.base.ref === pull.base.ref
}

/** The other pull requests whose merge the same checks would let pass. */
function siblingsOf(pull: PullRequest, open: readonly ListedPullRequest[], checks: readonly NamedCheck[]) {
  const bases = new Set(checks.flatMap(check => check.bases))
  return open.filter(
    ({ number, head, base }) => number !== pull.number && head.sha === pull.head.sha && bases.has(base.ref),
  )
}

/** Has those evaluated that share the head and of which a check is about this base too: it carries the most severe decision. */
async function enqueueSiblings(
  { context, data, pull, bases }: PullJob,
  open: readonly ListedPullRequest[],
): Promise<void> {
  for (const { number, head, base } of open) {
    if (number === pull.number || head.sha !== pull.head.sha) continue
    const checks = await bases.checksOnto(base.ref)
    if (!checks.some(check => check.bases.includes(pull.base.ref))) continue
    await context.queue.add('validate-pull-request', { ...data, pull: number })
  }
}

/** Whether the same pull requests have this head, onto the same branches. */
function sameHeads(one: readonly ListedPullRequest[], other: readonly ListedPullRequest[], sha: string): boolean {
  const of = (list: readonly ListedPullRequest[]) =>
    JSON.stringify(list.filter(({ head }) => head.sha === sha).map(({ number, base }) => [number, base.ref]))
  return of(one) === of(other)
}
