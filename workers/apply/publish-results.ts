import type { PublishResults } from '../../src/queue/queue.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { waitingNodes } from './offer-work.ts'
import type { Offered } from './offered.ts'
import { publishReported } from './publish-reported.ts'

/** A worker that says again and again that something waits has the fleet evaluated no more often than this. */
const APPROVALS_EVERY_MS = 5_000

/**
 * Publishes what the worker in a cluster reported last. What this process offered it is not evaluated again; where another
 * process did, a run of `reconcile` publishes it. Where a node waits for an approval, `reconcile` looks for one.
 */
export async function publishResults(
  { work, queue }: Pick<WorkerContext, 'work' | 'queue'>,
  offers: ReadonlyMap<string, Offered>,
  { cluster }: PublishResults,
): Promise<void> {
  const results = await work.reported(cluster)
  if (!results) return
  const offer = offers.get(cluster)
  if (offer?.approved.evaluation.verdict.combination !== results.revisionSet) return queue.add('reconcile', { cluster })
  await publishReported(offer, results)
  const approved = new Set(offer.approved.apply.map(({ key }) => key))
  const isWaiting = !results.isRunning && waitingNodes(results).some(key => approved.has(key))
  if (isWaiting) await queue.add('reconcile', { cluster }, { delayMs: APPROVALS_EVERY_MS })
}
