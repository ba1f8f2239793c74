import { listOurCheckRuns } from '../../src/github/checks/list-check-runs.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../../src/github/client/octokit.ts'
import type { OwnPull } from '../../src/github/pulls/read-own-pull.ts'
import { applyRunName } from '../../src/report/apply-report.ts'
import type { Installation } from '../context/installation.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'

interface FleetOf {
  readonly context: WorkerContext
  readonly place: RepositoryName & { readonly app: AppIdentity }
  readonly reader: Octokit
  readonly installation: Installation
  readonly fleet: ReadableRepository
}

/** A cluster that a merged change is not known to be on. `isApplied`: a worker of ours applies there, and says so when it has. */
interface WaitingCluster {
  readonly cluster: string
  readonly isApplied: boolean
}

/** Which clusters have not applied a merged pull request yet, as far as our own check runs say. */
export async function waitingClusters(
  { context, reader, place, installation, fleet }: FleetOf,
  { mergeCommit }: OwnPull,
  clusters: readonly string[],
): Promise<WaitingCluster[]> {
  const head = await installation.head(fleet, { branch: fleet.defaultBranch })
  const commits = new Set([mergeCommit, head].filter(sha => sha !== undefined))
  const runs = (await Promise.all([...commits].map(sha => listOurCheckRuns(reader, place.app, place, sha)))).flat()
  return clusters.flatMap((cluster): WaitingCluster[] => {
    const binding = context.bindings.find(
      ({ name, fleet: url, branch }) => name === cluster && url === fleet.url && branch === fleet.defaultBranch,
    )
    if (binding?.mode !== 'reconcile') return [{ cluster, isApplied: false }]
    const isDone = runs.some(({ name, conclusion }) => name === applyRunName(cluster) && conclusion === 'success')
    return isDone ? [] : [{ cluster, isApplied: true }]
  })
}
