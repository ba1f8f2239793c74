import { type Circumstances, NO_CIRCUMSTANCES } from '../../src/gate/circumstances.ts'
import { listOurCheckRuns } from '../../src/github/checks/list-check-runs.ts'
import { pullOfMergeGroup } from '../../src/github/pulls/merge-group.ts'
import { readPullRequest } from '../../src/github/pulls/pull-request.ts'
import type { ValidateMergeGroup } from '../../src/queue/queue.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { blocks } from './blocks.ts'
import type { CommitOutcome } from './commit-outcome.ts'
import { readDemands } from './read-demands.ts'
import { readHold } from './read-hold.ts'
import { readOverride } from './read-override.ts'

interface GroupVerdict {
  /** Nothing else of the queue is in the group. */
  readonly alone: boolean
  /** Its verdict, which knows what it adds to the group before it. */
  readonly said: CommitOutcome
}

/**
 * Reads what people decided about the pull request that a merge group adds: a hold set while it waited, required
 * approvals, and an override of its head. The override covers that pull request only, so it counts only if the group
 * contains nothing else.
 */
export async function readGroupCircumstances(
  context: WorkerContext,
  subject: OpenedRepository,
  data: ValidateMergeGroup,
  { alone, said }: GroupVerdict,
): Promise<Circumstances> {
  const number = await pullOfMergeGroup(subject.octokit, data, data.branch, data.sha)
  const pull = number === undefined ? undefined : await readPullRequest(subject.octokit, data, number)
  if (pull?.state !== 'open' || pull.base.ref !== data.branch) return NO_CIRCUMSTANCES
  const runs = async () => listOurCheckRuns(subject.octokit, await context.app.identity(), data, pull.head.sha)
  const [hold, asked] = await Promise.all([
    readHold(context, subject, pull),
    readDemands(subject, { pull, runs }, said),
  ])
  const { demands, approvals } = asked
  const given = approvals.length > 0 ? { approvals } : {}
  const present: Circumstances = { ...NO_CIRCUMSTANCES, ...(hold ? { hold } : {}), ...given, demands }
  const evaluated = { ...said, context: { ...said.context, circumstances: { ...NO_CIRCUMSTANCES, demands } } }
  if (!alone || !blocks(evaluated)) return present
  const override = await readOverride(context, subject, pull, await runs())
  return { ...present, ...(override ? { override } : {}) }
}
