import { type PullRequest, readTestMerge, type TestMerge } from '../../src/github/pulls/pull-request.ts'
import type { Attempt } from '../../src/queue/queue.ts'
import type { ReportContext } from '../../src/report/outcome.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { assertDesignated } from '../designation/assert-designated.ts'
import { evaluateChange } from '../fleets/evaluate-change.ts'
import { asBailiwickError, isTriedAgain } from '../job-error.ts'
import { changedPaths } from './changed-paths.ts'
import type { CommitOutcome } from './commit-outcome.ts'
import { outcomeOf } from './outcome-of.ts'
import { peopleOfPull } from './people-of.ts'
import { prunesOf } from './prunes-of.ts'
import { pullPruneRecord } from './pull-prune-record.ts'

/**
 * Evaluates an open pull request as it would be merged now. `merging`: its test merge, if it is being read already.
 * Throws errors that a retry may resolve.
 */
export async function evaluatePullRequest(
  context: WorkerContext,
  subject: OpenedRepository,
  pull: PullRequest,
  attempt: Attempt,
  merging?: Promise<TestMerge>,
): Promise<CommitOutcome> {
  const { repository, octokit } = subject
  const where = { kind: 'pull-request', repository: repository.url, headSha: pull.head.sha } as const
  try {
    const name = { owner: repository.owner, repo: repository.name }
    const merge = await (merging ?? readTestMerge(octokit, name, pull))
    return await withPruneApproval(context, subject, pull, await evaluateMerge(context, subject, pull, merge, where))
  } catch (error) {
    if (isTriedAgain(error, attempt)) throw error
    context.log.error({ err: error, pull: `${repository.url}#${pull.number}` }, 'pull request could not be evaluated')
    return { outcome: asBailiwickError(error), context: where }
  }
}

/** Adds who approved what the change deletes at once: exactly that, or more. */
async function withPruneApproval(
  { app }: WorkerContext,
  { octokit, repository }: OpenedRepository,
  pull: PullRequest,
  evaluated: CommitOutcome,
): Promise<CommitOutcome> {
  const { prunes } = evaluated.context
  if (!prunes) return evaluated
  const name = { owner: repository.owner, repo: repository.name }
  const place = { number: pull.number, head: pull.head.sha }
  const record = await pullPruneRecord(octokit, await app.identity(), name, place)
  const approved = new Set(record?.prints)
  if (!record || !prunes.prints.every(one => approved.has(one))) return evaluated
  return { ...evaluated, context: { ...evaluated.context, prunes: { ...prunes, approvedBy: record.by } } }
}

async function evaluateMerge(
  context: WorkerContext,
  subject: OpenedRepository,
  pull: PullRequest,
  merge: TestMerge,
  where: ReportContext,
): Promise<CommitOutcome> {
  const { installation, repository } = subject
  const pin = { url: repository.url, branch: pull.base.ref }
  const base = { ...pin, commit: merge.base, tree: merge.baseTree }
  const head = { ...pin, commit: merge.sha, tree: merge.tree }
  const people = peopleOfPull(subject, pull)
  installation.noteHead(repository, pin.branch, merge.base)
  await assertDesignated(installation)
  const answers = await evaluateChange(context, installation, { head, base, people, isGated: true })
  const { outcome, required, ...statement } = outcomeOf(answers, repository.url, 'pull-request')
  if (answers.length === 0) return { outcome, context: where }
  const [before, after] = await Promise.all([
    installation.content(repository, base.commit, base.tree),
    installation.content(repository, head.commit, head.tree),
  ])
  const prunes = prunesOf(context, answers, repository.url)
  const deletes = prunes ? { prunes } : {}
  const reportContext = { ...where, ...statement, ...deletes, changedPaths: changedPaths(before, after) }
  return { outcome, context: reportContext, tree: after, required, fleets: answers.map(({ place }) => place) }
}
