import { BailiwickError } from '../../src/base/errors.ts'
import { message } from '../../src/base/message.ts'
import type { OurCheckRun } from '../../src/github/checks.ts'
import { repositoryPart } from '../../src/github/client/octokit.ts'
import {
  type ListedPullRequest,
  listOpenPullRequests,
  type PullRequest,
  readPullRequest,
} from '../../src/github/pull-request.ts'
import { mergesAs, readTestMerge, type TestMerge } from '../../src/github/test-merge.ts'
import type { Attempt, ValidatePullRequest, VerifyMerge } from '../../src/receive/queue.ts'
import { isShared, type NamedCheck } from '../../src/verdict/check-names.ts'
import { openCase, openWriter } from '../fleets/github-installation.ts'
import type { Case, WorkerContext, Writer } from '../fleets/worker-context.ts'
import { type RepositoryBases, readBases } from '../gate/bases.ts'
import { statementOf } from '../gate/commit-outcome.ts'
import { type EvaluatedPull, evaluateWithDecisions, withWorse, worstOfHead } from '../gate/evaluate-pull-request.ts'
import { isLabeledHold } from '../gate/human-decisions.ts'
import { dropPull, keepPull } from '../gate/keep-pages.ts'
import { announceSlow, cancelOvertakenRuns, HeadRuns, publishChecks, watched } from '../gate/publish-checks.ts'
import { checksAt, isOfOtherBase, isUnasked, passes, supersedeRuns } from '../gate/settle.ts'
import { noteVerdict } from '../gate/unchanged-verdict.ts'

/**
 * Evaluates a pull request as it would be merged now, and publishes the checks of its base on its head; drafts and
 * forks too. A base that is not gated gets no check. A repeated job publishes once. A verdict is published only if head
 * and base have not moved.
 */
export async function validatePullRequest(context: WorkerContext, asked: ValidatePullRequest, attempt: Attempt) {
  const { rerun = false, unlike, ...data } = asked
  const octokit = await context.app.reader(data.installation)
  const pull = await readPullRequest({ ...data, octokit }, data.pull)
  if (pull?.state !== 'open') return dropPull(context, data, data.pull)
  const subject = await openCase(context, data, attempt, octokit)
  if (!subject) return
  const writer = await openWriter(context, data.installation, subject.repository)
  const merging = startMerge(subject, pull, unlike)
  await merging.catch(error => {
    // no other request before the merge is known; the last attempt publishes that it is not, and every other error
    if (pull.mergeable === null && !attempt.lastAttempt) throw error
  })
  const bases = await readBases(subject)
  const checks = await bases.checksOf([pull.base.ref])
  const head = new HeadRuns(context.queue, subject, pull.head.sha)
  const job = { data, rerun, subject, writer, pull, bases, checks, head, merging }
  if (checks.length === 0) {
    await dropPull(context, data, data.pull)
    const aims = basesOn(pull.head.sha, await listOpenPullRequests(subject))
    const all = await bases.checksOf(aims)
    await supersedeRuns(
      async () => writer,
      await head.list(),
      run => isUnasked(run, all),
    )
    return
  }
  await evaluateAndPublish(job)
}

interface PullJob {
  readonly data: Omit<ValidatePullRequest, 'rerun' | 'unlike'>
  readonly rerun: boolean
  readonly subject: Case
  readonly writer: Writer
  readonly pull: PullRequest
  readonly bases: RepositoryBases
  readonly checks: readonly NamedCheck[]
  readonly head: HeadRuns
  readonly merging: Promise<TestMerge>
}

async function evaluateAndPublish(job: PullJob): Promise<void> {
  const { data, rerun, subject, writer, pull, bases, head, merging } = job
  const { context } = subject
  const names = job.checks.map(({ name }) => name)
  const begun = await beginAnew(job)
  const runs = async () => begun
  const headSha = pull.head.sha
  const announced = announceSlow({ place: writer, headSha, names, runs, withLock: head.withLock, log: context.log })
  let own: EvaluatedPull
  try {
    own = await evaluateWithDecisions(watched(subject, announced), pull, runs, merging)
  } finally {
    await announced.end()
  }
  // the other pull requests with this head are listed last: this listing also shows what moved meanwhile
  const open = await listOpenPullRequests(subject)
  const present = (await announced.end()) ?? begun
  if (!stands(pull, open)) return head.withLock(present, latest => cancelOvertakenRuns(writer, headSha, names, latest))
  const all = await bases.checksOf(basesOn(headSha, open))
  const checks = checksAt(all, pull.base.ref)
  const siblings = siblingsOf(pull, open, checks)
  const others: EvaluatedPull[] = []
  for (const { number } of siblings) {
    const other = await readPullRequest(subject, number)
    if (other?.state !== 'open' || other.head.sha !== headSha) continue
    others.push(await evaluateWithDecisions(subject, other, runs))
  }
  const moved = async () => !sameHeads(open, await listOpenPullRequests(subject), headSha)
  if (others.length > 0 && (await moved())) return context.queue.add('validate-pull-request', data)
  const decided = worstOfHead([own, ...others])
  const { shown, written, passes, detailsUrl } = await head.withLock(present, latest =>
    publishChecks(subject, { writer, about: pull, runs: latest, again: rerun }, checks, decided),
  )
  await keepPull(subject, pull, { own: own.evaluated, shown, page: detailsUrl })
  const merge = await merging.catch(() => undefined)
  if (merge && others.length === 0) await noteVerdict(subject, pull, merge, own.evaluated)
  if (merge?.isOurs) {
    const { base, head: of, tree } = merge
    await context.queue.add('verify-merge', { ...data, base, head: of, tree }, { delayMs: GITHUB_MERGES_MS })
  }
  await supersedeRuns(
    async () => writer,
    present,
    run => isUnasked(run, all),
  )
  // writes may wait long for their turn: after a passing one, another pull request may share the head meanwhile
  if (written && passes && (await moved())) await context.queue.add('validate-pull-request', data)
  if (written)
    for (const sibling of siblings) await context.queue.add('validate-pull-request', { ...data, pull: sibling.number })
  const statement = { own: own.evaluated, shown: withWorse(own, shown), page: detailsUrl }
  await context.statements.keep(data, await statementOf(subject, pull, statement))
  await context.queue.add('post-on-pull-request', data)
}

/** GitHub mostly needs less to merge a pull request for a test. */
const GITHUB_MERGES_MS = 3_000

/**
 * Compares the merge that was evaluated before GitHub had made one with GitHub's. Where they differ, the check gets an error:
 * the verdict was not about what GitHub merges.
 */
export async function verifyMerge({ app, queue, log }: WorkerContext, { base, head, tree, ...data }: VerifyMerge) {
  const octokit = await app.reader(data.installation)
  const pull = await readPullRequest({ ...data, octokit }, data.pull)
  if (!pull || (await mergesAs({ ...data, octokit }, pull, { base, head, tree })) !== false) return
  log.error({ ...data, base, head, tree }, 'GitHub merges a pull request otherwise than it was evaluated')
  await queue.add('validate-pull-request', { ...data, unlike: tree })
}

/**
 * Reads the test merge first: it has the commit of the base, which saves a request. `unlike`: the tree of an earlier verdict,
 * which GitHub's merge does not have.
 */
async function startMerge(subject: Case, pull: PullRequest, unlike: string | undefined): Promise<TestMerge> {
  const merge = await readTestMerge(subject, pull, subject.context.store)
  if (unlike !== undefined && merge.tree !== unlike) {
    const name = repositoryPart(subject, pull.number)
    throw new BailiwickError(
      'internal',
      message`GitHub merges this differently: its merge of ${name} has other files than the evaluated one`,
      {
        fix: 'Re-run the check: it then evaluates what GitHub merges. Please report this with the log of the worker.',
      },
    )
  }
  subject.installation.noteHead(subject.repository, pull.base.ref, merge.base, merge.baseTree)
  return merge
}

/** Our runs of the head, after those that pass for another base were renamed; with a hold, after all that pass were. */
async function beginAnew({ writer, pull, checks, head }: PullJob): Promise<readonly OurCheckRun[]> {
  const names = new Set(checks.map(({ name }) => name))
  const isStale = (run: OurCheckRun) =>
    isLabeledHold(pull) ? passes(run) && names.has(run.name) : isOfOtherBase(run, checks)
  const listed = await head.list()
  if (!listed.some(isStale)) return listed
  return head.withLock(listed, latest => supersedeRuns(async () => writer, latest, isStale))
}

/** The bases of the open pull requests with this head. */
function basesOn(sha: string, open: readonly ListedPullRequest[]): readonly string[] {
  return [...new Set(open.filter(({ head }) => head.sha === sha).map(({ base }) => base.ref))]
}

/** Whether the evaluated head and base are still current: another head or base gets its verdict from its own job. */
function stands(pull: PullRequest, open: readonly ListedPullRequest[]): boolean {
  const now = open.find(one => one.number === pull.number)
  const { ref, isDefault } = pull.base
  return now?.head.sha === pull.head.sha && now.base.ref === ref && now.base.isDefault === isDefault
}

/** The other pull requests that the same checks would allow to merge. */
function siblingsOf(pull: PullRequest, open: readonly ListedPullRequest[], checks: readonly NamedCheck[]) {
  const bases = new Set(checks.flatMap(check => (isShared(check) ? [] : check.bases)))
  return open.filter(
    ({ number, head, base }) => number !== pull.number && head.sha === pull.head.sha && bases.has(base.ref),
  )
}

/** Whether the same pull requests have this head, onto the same branches. */
function sameHeads(one: readonly ListedPullRequest[], other: readonly ListedPullRequest[], sha: string): boolean {
  const of = (list: readonly ListedPullRequest[]) =>
    JSON.stringify(list.filter(({ head }) => head.sha === sha).map(({ number, base }) => [number, base.ref]))
  return of(one) === of(other)
}
