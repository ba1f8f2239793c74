import { listOpenPullRequests } from '../../src/github/pull-request.ts'
import type { Attempt, ValidatePush } from '../../src/receive/queue.ts'
import { looksLikeFleet } from '../fleets/designation.ts'
import { affectedPlaces, evaluateChange, type FleetAnswer } from '../fleets/evaluate-change.ts'
import { readFleets } from '../fleets/evaluate-revision-set.ts'
import { openWritable } from '../fleets/github-installation.ts'
import type { Pin } from '../fleets/source-reader.ts'
import type { Case, WorkerContext, WritableCase } from '../fleets/worker-context.ts'
import { type CommitOutcome, outcomeOf } from '../gate/commit-outcome.ts'
import { keepFleetPages, keepPage, pageCommitOf } from '../gate/keep-pages.ts'
import { BRANCH_CHECK, HeadRuns, publishVerdict } from '../gate/publish-checks.ts'
import { recordVerdict } from '../gate/record-decision.ts'
import { evaluateSpread, settleFollowed } from '../gate/settle.ts'
import { isUnchanged } from '../gate/unchanged-verdict.ts'
import { finalError } from '../job-error.ts'

/**
 * Evaluates one commit of a branch in its revision set and publishes the verdict, then enqueues the clusters that
 * follow the branch and the open pull requests that the push can affect: those into the branch, and those of other
 * repositories that the change reaches.
 */
export async function validatePush(context: WorkerContext, data: ValidatePush, attempt: Attempt): Promise<void> {
  const subject = await openWritable(context, data, attempt)
  if (!subject) return
  const { installation, repository } = subject
  const head = { url: repository.url, branch: data.branch, commit: data.sha }
  await noteCandidate(subject)
  const answers = await evaluateCommit(subject, head, data.rerun)
  if (answers.length === 0) return wakeLenders(subject, data)
  const urls = answers.map(answer => answer.place.repository.url)
  await wakeClusters(context, urls)
  // only now: whatever fails here, the verdict on the commit stands
  await settleFollowed(subject, head, data.before, answers)
  await evaluateConcerned(subject, data, head, answers)
  await keepFleetPages(context, installation, answers)
}

/** Where no fleet is designated, a repository that begins to look like one gets its first report. */
async function noteCandidate({ context, installation, repository }: Case): Promise<void> {
  const { designation } = await installation.designation()
  const isOpen = designation.state === 'undecided' && designation.reason === 'undesignated'
  const known = isOpen ? designation.candidates : designation.state === 'none' ? [] : undefined
  if (known === undefined || known.includes(repository.id)) return
  if (await looksLikeFleet(context, installation, repository))
    await context.queue.add('survey', { installation: installation.id })
}

/** Publishes on the commit what fleets that read the branch find. Empty if none does, or it could not be evaluated. */
async function evaluateCommit(
  subject: WritableCase,
  head: Pin,
  again: boolean | undefined,
): Promise<readonly FleetAnswer[]> {
  const { context, repository, writer } = subject
  const { commit: headSha } = head
  const where = { kind: 'branch', repository: repository.url, headSha } as const
  try {
    const answers = await evaluateChange(subject, { head })
    if (answers.length === 0) return []
    const { outcome, required: _required, ...statement } = outcomeOf(answers, repository.url, 'branch')
    const evaluated = { outcome, context: { ...where, ...statement } }
    await say(subject, evaluated, head.branch, again)
    return answers
  } catch (error) {
    const outcome = finalError(error, subject.attempt)
    context.log.error({ err: error, commit: `${repository.url}@${headSha}` }, 'push could not be evaluated')
    const evaluated = { outcome, context: where }
    const record = () => recordVerdict(writer, undefined, BRANCH_CHECK.name, evaluated)
    await publishVerdict(writer, BRANCH_CHECK, evaluated, { record })
    return []
  }
}

/** Publishes under a name that no rule requires: a pull request with this commit as its head is evaluated by itself. */
async function say(
  subject: WritableCase,
  evaluated: CommitOutcome,
  branch: string,
  again: boolean | undefined,
): Promise<void> {
  const { context, repository, writer } = subject
  const { headSha } = evaluated.context
  const head = new HeadRuns(context.queue, subject, headSha)
  const [commit, present] = await Promise.all([pageCommitOf(subject, { branch, sha: headSha }), head.list()])
  const detailsUrl = await keepPage(context, repository, BRANCH_CHECK.name, evaluated, commit)
  const record = () => recordVerdict(writer, undefined, BRANCH_CHECK.name, evaluated)
  await head.withLock(present, runs =>
    publishVerdict(writer, BRANCH_CHECK, evaluated, { detailsUrl, again, record, runs }),
  )
}

async function evaluateConcerned(
  subject: Case,
  data: ValidatePush,
  head: Pin,
  answers: readonly FleetAnswer[],
): Promise<void> {
  const { context, octokit } = subject
  const { installation, before: earlier } = data
  const open = await listOpenPullRequests(subject)
  const own = open.filter(({ base, head: { sha } }) => base.ref === data.branch || sha === data.sha)
  await evaluateSpread(
    context,
    data,
    own.map(({ number }) => number),
  )
  if (earlier === undefined) return
  let before = own.length
  for (const repository of await affectedPlaces(subject, head, earlier, answers)) {
    const { owner, repo } = repository
    const there = { ...subject, repository, owner, repo }
    for (const pull of await listOpenPullRequests({ octokit, owner, repo })) {
      if (await isUnchanged(there, pull)) continue
      await evaluateSpread(context, { installation, owner, repo }, [pull.number], { before })
      before++
    }
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
  { context, installation, repository }: Case,
  { branch }: Pick<ValidatePush, 'branch'>,
): Promise<void> {
  for (const { place, commit: sha, sources } of await readFleets(context, installation)) {
    const isLent = sources.some(one => one.lent && one.url === repository.url && one.ref.branch === branch)
    if (!isLent) continue
    const { owner, repo } = place.repository
    await context.queue.add('validate-push', { installation: installation.id, owner, repo, branch: place.branch, sha })
  }
}
