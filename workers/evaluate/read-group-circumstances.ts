import { type HumanDecisions, NO_DECISIONS } from '../../src/gate/circumstances.ts'
import { listOurCheckRuns } from '../../src/github/checks/list-check-runs.ts'
import { pullOfMergeGroup } from '../../src/github/pulls/merge-group.ts'
import { readPullRequest } from '../../src/github/pulls/pull-request.ts'
import type { ValidateMergeGroup } from '../../src/queue/queue.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { blocks } from './blocks.ts'
import type { CommitOutcome } from './commit-outcome.ts'
import { readApprovals } from './read-demands.ts'
import { readHold } from './read-hold.ts'
import { readOverride } from './read-override.ts'

interface GroupVerdict {
  /** Nothing else of the queue is in the group. */
  readonly alone: boolean
  /** Its verdict, which knows what it adds to the group before it. */
  readonly evaluated: CommitOutcome
}

/**
 * Reads what people decided about the pull request that a merge group adds: a hold set while it waited, required
 * approvals, and an override of its head. The override covers that pull request only, so it counts only if the group
 * contains nothing else.
 */
export async function readGroupDecisions(
  context: WorkerContext,
  subject: OpenedRepository,
  data: ValidateMergeGroup,
  { alone, evaluated }: GroupVerdict,
): Promise<HumanDecisions> {
  const number = await pullOfMergeGroup(subject.octokit, data, data.branch, data.sha)
  const pull = number === undefined ? undefined : await readPullRequest(subject.octokit, data, number)
  if (pull?.state !== 'open' || pull.base.ref !== data.branch) return NO_DECISIONS
  const runs = async () => listOurCheckRuns(subject.octokit, await context.app.identity(), data, pull.head.sha)
  const [hold, asked] = await Promise.all([
    readHold(context, subject, pull),
    readApprovals(subject, { pull, runs }, evaluated),
  ])
  const { missing, approvals } = asked
  const given = approvals.length > 0 ? { approvals } : {}
  const present: HumanDecisions = { ...NO_DECISIONS, ...(hold ? { hold } : {}), ...given, demands: missing }
  const decided = {
    ...evaluated,
    context: { ...evaluated.context, circumstances: { ...NO_DECISIONS, demands: missing } },
  }
  if (!alone || !blocks(decided)) return present
  const override = await readOverride(context, subject, pull, await runs())
  return { ...present, ...(override ? { override } : {}) }
}
