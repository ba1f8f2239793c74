import type { OurCheckRun } from '../../src/github/checks/list-check-runs.ts'
import type { PullRequest, TestMerge } from '../../src/github/pulls/pull-request.ts'
import type { Attempt } from '../../src/queue/queue.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { CommitOutcome } from './commit-outcome.ts'
import { evaluatePullRequest } from './evaluate-pull-request.ts'
import { readDecisions } from './read-circumstances.ts'
import { readFixes } from './read-fixes.ts'

/** A pull request and its evaluation. */
export interface EvaluatedPull {
  readonly pull: PullRequest
  readonly evaluated: CommitOutcome
}

/**
 * Evaluates an open pull request and reads what people decided about it. `runs`: reads our check runs of its head, once
 * the verdict is known. Throws errors that a retry may resolve.
 */
export async function evaluateWithDecisions(
  context: WorkerContext,
  subject: OpenedRepository,
  pull: PullRequest,
  runs: () => Promise<readonly OurCheckRun[]>,
  attempt: Attempt,
  merging?: Promise<TestMerge>,
): Promise<EvaluatedPull> {
  const evaluated = await evaluatePullRequest(context, subject, pull, attempt, merging)
  const decisions = await readDecisions(context, subject, pull, evaluated, await runs())
  // the App cannot write to a fork
  const fixable = !pull.head.fork && readFixes(evaluated).length > 0
  return { pull, evaluated: { ...evaluated, context: { ...evaluated.context, fixable, decisions } } }
}
