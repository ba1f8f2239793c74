import type { OurCheckRun } from '../../src/github/checks/list-check-runs.ts'
import type { PullRequest, TestMerge } from '../../src/github/pulls/pull-request.ts'
import type { Attempt } from '../../src/queue/queue.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { CommitOutcome } from './commit-outcome.ts'
import { evaluatePullRequest } from './evaluate-pull-request.ts'
import { readCircumstances } from './read-circumstances.ts'
import { readFixes } from './read-fixes.ts'

/** A pull request and its evaluation. */
export interface EvaluatedPull {
  readonly pull: PullRequest
  readonly said: CommitOutcome
}

/**
 * Evaluates an open pull request and reads what people decided about it. `runs`: reads our check runs of its head, once
 * the verdict is known. Throws errors that a retry may resolve.
 */
export async function evaluateWithCircumstances(
  context: WorkerContext,
  subject: OpenedRepository,
  pull: PullRequest,
  runs: () => Promise<readonly OurCheckRun[]>,
  attempt: Attempt,
  merging?: Promise<TestMerge>,
): Promise<EvaluatedPull> {
  const said = await evaluatePullRequest(context, subject, pull, attempt, merging)
  const circumstances = await readCircumstances(context, subject, pull, said, await runs())
  // nobody writes to someone else's fork
  const fixable = !pull.head.fork && readFixes(said).length > 0
  return { pull, said: { ...said, context: { ...said.context, fixable, circumstances } } }
}
