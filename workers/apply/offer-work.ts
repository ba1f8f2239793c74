import type { ClusterBinding } from '../../src/cluster/clusters-file.ts'
import type { InstallationRecord } from '../fleets/recorded-installation.ts'
import type { CommitOf } from './applied-groups.ts'
import type { ApprovedWithValues } from './approved-nodes.ts'
import { attributeResults } from './attribute-results.ts'
import { reportApplied } from './report-applied.ts'
import type { Reporter } from './run-report.ts'
import { workOf } from './work-of.ts'

interface Offer {
  readonly binding: ClusterBinding
  readonly approved: ApprovedWithValues
  readonly record: InstallationRecord
  readonly fleet: CommitOf
}

/**
 * For a cluster that has a worker of its own: stores what is approved for it, and publishes what it reported about exactly
 * that. The worker fetches the one and brings the other by the web process; it never gets here.
 */
export async function offerWork(reporter: Reporter, { binding, approved, record, fleet }: Offer): Promise<void> {
  const { config, work } = reporter.context
  const { name: cluster } = binding
  const last = await work.reported(cluster)
  // whether something is approved matters only where something waits for it
  const waiting = (last?.applied ?? []).filter(({ outcome }) => outcome === 'held').map(({ key }) => key)
  const digests = waiting.length > 0 ? await approved.prunes?.approvals(waiting) : undefined
  const prunes = { share: config.pruneShare, atLeast: config.pruneAtLeast, approved: [...(digests ?? [])] }
  const { installation } = reporter
  const repositories = await installation.repositories()
  const offered = workOf({ binding, approved, record, repositories, prunes })
  await work.offer(cluster, { installation: installation.id, work: offered })
  if (last?.revisionSet !== offered.revisionSet) return
  const { applied, failure } = { failure: last.failure, applied: attributeResults(cluster, approved, last) }
  const retryAt = () => undefined
  await reportApplied(reporter, {
    ...{ cluster, fleet, approved, applied, retryAt, drift: [] },
    ...(failure === undefined ? {} : { problem: failure }),
  })
}
