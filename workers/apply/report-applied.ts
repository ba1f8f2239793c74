import { hash } from 'node:crypto'
import { publishCheckRun } from '../../src/github/checks/check-run.ts'
import { type AppliedNode, applyReport } from '../../src/report/apply-report.ts'
import { applyViewFor } from '../../src/report/apply-view.ts'
import { findRepository } from '../fleets/find-repository.ts'
import { recordApply } from '../trail/record-apply.ts'
import { groupByCommit } from './applied-groups.ts'
import type { Approved } from './approved-nodes.ts'
import { keepClusterPages } from './keep-cluster-pages.ts'
import type { Reporter, RunReport } from './run-report.ts'
import { withLines } from './with-lines.ts'

/** Publishes the result of a run on each commit that it applied; a repository is told of its own nodes only. */
export async function reportApplied(reporter: Reporter, report: RunReport): Promise<void> {
  const { cluster, fleet, approved, problem } = report
  const applied = withLines(report.applied, approved.nodes)
  const stopped = { key: cluster, user: '', outcome: 'failed' as const, reason: problem ?? '', objects: [] }
  for (const group of groupByCommit(fleet, approved, problem === undefined ? applied : [stopped]))
    await reportCommit(reporter, cluster, group, fleet.url, approved)
  await keepPages(reporter, { ...report, applied, isRunning: false })
}

/** Shows how far a run is that has not ended. */
export async function reportProgress(reporter: Reporter, report: RunReport): Promise<void> {
  const applied = withLines(report.applied, report.approved.nodes)
  await keepPages(reporter, { ...report, applied, isRunning: true })
}

/** Shows what was corrected since the last run; what is corrected within seconds is shown together. */
export function reportDriftSoon(reporter: Reporter, cluster: string, report: () => RunReport): void {
  const { drifting, pace } = reporter.memory
  if (drifting.has(cluster)) return
  const timer = setTimeout(() => {
    drifting.delete(cluster)
    const { applied, approved, ...rest } = report()
    void keepPages(reporter, { ...rest, approved, applied: withLines(applied, approved.nodes), isRunning: false })
  }, pace.everyMs)
  drifting.set(cluster, timer.unref())
}

/** The cluster is as it is, whether or not people can read about it. */
async function keepPages(reporter: Reporter, report: RunReport & { readonly isRunning: boolean }): Promise<void> {
  const { log } = reporter.context
  await keepClusterPages(reporter, report).catch(err =>
    log.warn({ err, cluster: report.cluster }, 'cluster page could not be stored'),
  )
}

async function reportCommit(
  reporter: Reporter,
  cluster: string,
  { url, commit, nodes }: ReturnType<typeof groupByCommit>[number],
  fleet: string,
  { evaluation }: Approved,
): Promise<void> {
  const { octokit, app, installation, memory } = reporter
  const repository = await findRepository(installation, { url })
  if (!repository) return
  const report = applyReport(cluster, url === fleet ? nodes : applyViewFor(nodes, evaluation), url)
  const externalId = hash('sha256', JSON.stringify(report))
  const key = `${cluster} ${url} ${commit}`
  if (memory.checkRuns.get(key) === externalId) return
  const place = { owner: repository.owner, repo: repository.name }
  await publishCheckRun(octokit, app, place, {
    ...report,
    headSha: commit,
    externalId,
    quiet: nodes.every(isQuiet),
    beforeWrite: () => recordApply(reporter, { cluster, fleet }, place, { url, commit, nodes, digest: externalId }),
  })
  memory.checkRuns.set(key, externalId)
}

function isQuiet({ outcome, objects }: AppliedNode): boolean {
  return outcome === 'applied' && objects.every(({ action }) => action === 'unchanged' || action === 'skipped')
}
