import type { SettleChecks } from '../../src/queue/queue.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { openRepository } from '../fleets/open-repository.ts'
import { settleAndAsk } from '../gate/settle-and-ask.ts'

/**
 * Brings the checks of one repository in line with its gated bases, which are others since a push or a deleted branch: what
 * counts no more is renamed, what is about other bases begins again at once, then what has no verdict is evaluated.
 */
export async function settleChecks(context: WorkerContext, data: SettleChecks): Promise<void> {
  const subject = await openRepository(context, data)
  if (subject && !subject.repository.archived) await settleAndAsk(context, subject)
}
