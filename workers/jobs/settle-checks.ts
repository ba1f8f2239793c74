import type { SettleChecks } from '../../src/queue/queue.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { openRepository } from '../fleets/open-repository.ts'
import { settleAndAsk } from '../gate/settle-and-ask.ts'

/**
 * Updates the checks of one repository after its gated bases changed: renames those that no longer count, then enqueues an
 * evaluation where a verdict is missing.
 */
export async function settleChecks(context: WorkerContext, data: SettleChecks): Promise<void> {
  const subject = await openRepository(context, data)
  if (subject && !subject.repository.archived) await settleAndAsk(context, subject)
}
