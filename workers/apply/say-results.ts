import type { SayResults } from '../../src/queue/queue.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { waitingNodes } from './offer-work.ts'
import type { Offered } from './offered.ts'
import { sayReported } from './say-reported.ts'

/**
 * Publishes what the worker in a cluster reported last. What this process offered it is not evaluated again; where another
 * process did, or a node waits for an approval, a run of `reconcile` publishes it.
 */
export async function sayResults(
  context: Pick<WorkerContext, 'work' | 'queue'>,
  offers: ReadonlyMap<string, Offered>,
  { cluster }: SayResults,
): Promise<void> {
  const results = await context.work.reported(cluster)
  if (!results) return
  const offer = offers.get(cluster)
  const isOffered = offer?.approved.evaluation.verdict.combination === results.revisionSet
  const held = new Set(offer?.approved.held.map(({ node }) => node))
  const isWaiting = !results.isRunning && waitingNodes(results).some(key => !held.has(key))
  if (!offer || !isOffered || isWaiting) return context.queue.add('reconcile', { cluster })
  await sayReported(offer, results)
}
