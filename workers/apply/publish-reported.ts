import type { ApplyResults } from '../../src/channel/apply-results.ts'
import { attributeResults } from './attribute-results.ts'
import type { Offered } from './offered.ts'
import { reportApplied, reportProgress } from './report-applied.ts'

/** Publishes what the worker in a cluster reported, as far as it can be its to say, like the results of a worker of the site. */
export async function publishReported(
  { reporter, binding, approved, fleet }: Offered,
  results: ApplyResults,
): Promise<void> {
  const { name: cluster } = binding
  const own = new Set(approved.nodes.map(({ key }) => key))
  const retries = new Map(results.retries.map(({ key, at }) => [key, Date.parse(at)]))
  const report = {
    cluster,
    fleet,
    approved,
    applied: attributeResults(cluster, approved, results),
    retryAt: (key: string) => (own.has(key) ? retries.get(key) : undefined),
    drift: binding.reportDrift === false ? [] : results.drift.filter(({ node }) => own.has(node)),
  }
  if (results.isRunning) return reportProgress(reporter, report)
  const { failure } = results
  await reportApplied(reporter, { ...report, ...(failure === undefined ? {} : { problem: failure }) })
}
