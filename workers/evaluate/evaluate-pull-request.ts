import { type PullRequest, readTestMerge, type TestMerge } from '../../src/github/pulls/pull-request.ts'
import type { Attempt } from '../../src/queue/queue.ts'
import type { ReportContext } from '../../src/report/outcome.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { assertDesignated } from '../designation/assert-designated.ts'
import { evaluateChange } from '../fleets/evaluate-change.ts'
import type { Contributors } from '../fleets/source-reader.ts'
import { asBailiwickError, isTriedAgain } from '../job-error.ts'
import { changedPaths } from './changed-paths.ts'
import { outcomeOf } from './outcome-of.ts'
import { peopleOfPull } from './people-of.ts'
import type { Said } from './said.ts'

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
): Promise<Said> {
  const { repository, octokit } = subject
  const where = { kind: 'pull-request', repository: repository.url, headSha: pull.head.sha } as const
  try {
    const name = { owner: repository.owner, repo: repository.name }
    const merge = await (merging ?? readTestMerge(octokit, name, pull))
    return await evaluateMerge(
      context,
      subject,
      { onto: pull.base.ref, people: peopleOfPull(subject, pull) },
      merge,
      where,
    )
  } catch (error) {
    if (isTriedAgain(error, attempt)) throw error
    context.log.error({ err: error, pull: `${repository.url}#${pull.number}` }, 'pull request could not be evaluated')
    return { outcome: asBailiwickError(error), context: where }
  }
}

/** What is merged into, and on whose behalf. */
interface MergeTarget {
  readonly onto: string
  readonly people: Contributors
}

/** Evaluates the result of a merge into a branch. */
export async function evaluateMerge(
  context: WorkerContext,
  subject: OpenedRepository,
  { onto, people }: MergeTarget,
  merge: Pick<TestMerge, 'sha' | 'tree' | 'base'> & Partial<Pick<TestMerge, 'baseTree'>>,
  where: ReportContext,
): Promise<Said> {
  const { installation, repository } = subject
  const pin = { url: repository.url, branch: onto }
  installation.noteHead(repository, onto, merge.base)
  const base = { ...pin, commit: merge.base, ...(merge.baseTree === undefined ? {} : { tree: merge.baseTree }) }
  const head = { ...pin, commit: merge.sha, tree: merge.tree }
  await assertDesignated(installation)
  const answers = await evaluateChange(context, installation, { head, base, people, isGated: true })
  const { outcome, required, ...statement } = outcomeOf(answers, repository.url, 'pull-request')
  if (answers.length === 0) return { outcome, context: where }
  const [before, after] = await Promise.all([
    installation.content(repository, base.commit, base.tree),
    installation.content(repository, head.commit, head.tree),
  ])
  const said = { ...where, ...statement, changedPaths: changedPaths(before, after) }
  return { outcome, context: said, tree: after, required }
}
