import type { ApplyResults } from '../../src/channel/apply-results.ts'
import type { InstallationRecord } from '../fleets/recorded-installation.ts'
import type { Offered } from './offered.ts'
import { publishReported } from './publish-reported.ts'
import { workOf } from './work-of.ts'

/**
 * For a cluster that has a worker of its own: stores what is approved for it, and publishes what it reported about exactly
 * that. The worker fetches the one and brings the other by the web process; it never gets here.
 */
export async function offerWork(offer: Offered, record: InstallationRecord): Promise<void> {
  const { reporter, binding, approved } = offer
  const { config, work } = reporter.context
  const { name: cluster } = binding
  const last = await work.reported(cluster)
  // whether something is approved matters only where something waits for it
  const waiting = last ? waitingNodes(last) : []
  const digests = waiting.length > 0 ? await approved.prunes?.approvals(waiting) : undefined
  const prunes = { share: config.pruneShare, atLeast: config.pruneAtLeast, approved: [...(digests ?? [])] }
  const { installation } = reporter
  const repositories = await installation.repositories()
  const offered = workOf({ binding, approved, record, repositories, prunes })
  await work.offer(cluster, { installation: installation.id, work: offered })
  if (last?.revisionSet === offered.revisionSet) await publishReported(offer, last)
}

/** Nodes that the worker does not apply, for whatever reason. */
export function waitingNodes({ applied }: Pick<ApplyResults, 'applied'>): string[] {
  return applied.filter(({ outcome }) => outcome === 'held').map(({ key }) => key)
}
