import type { HumanDecisions } from '../../src/gate/circumstances.ts'
import type { OurCheckRun } from '../../src/github/checks/list-check-runs.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { CommitOutcome } from './commit-outcome.ts'
import { readApprovals } from './read-demands.ts'
import { readHold } from './read-hold.ts'
import { readOverride } from './read-override.ts'

/**
 * Reads what people decided about the present head of a pull request, as GitHub has it now. `runs`: our check runs of
 * that head.
 */
export async function readDecisions(
  context: WorkerContext,
  subject: OpenedRepository,
  pull: PullRequest,
  evaluated: CommitOutcome,
  runs: readonly OurCheckRun[],
): Promise<HumanDecisions> {
  const [hold, override, { missing, approvals }] = await Promise.all([
    readHold(context, subject, pull),
    readOverride(context, subject, pull, runs),
    readApprovals(subject, { pull, runs: async () => runs }, evaluated),
  ])
  return {
    ...(hold ? { hold } : {}),
    ...(override ? { override } : {}),
    ...(approvals.length > 0 ? { approvals } : {}),
    ...{ demands: missing, worse: [] },
  }
}
