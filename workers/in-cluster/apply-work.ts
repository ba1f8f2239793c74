import type { ApplyResults } from '../../src/channel/apply-results.ts'
import type { ClusterWork } from '../../src/channel/cluster-work.ts'
import type { ClusterBinding } from '../../src/cluster/clusters-file.ts'
import { BailiwickError } from '../../src/errors.ts'
import type { Log } from '../../src/process/log.ts'
import type { AppliedNode } from '../../src/report/apply-report.ts'
import { approvedNodes } from '../apply/approved-nodes.ts'
import { openApproved } from '../apply/open-approved.ts'
import type { WatchedCluster } from '../apply/watched-cluster.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { asBailiwickError, isPassing } from '../job-error.ts'
import { agreedNodes } from './agreed-nodes.ts'
import { workInstallation } from './work-installation.ts'

/** What evaluates in this process, and where sources are read. */
export interface WorkTools extends Pick<WorkerContext, 'evaluator' | 'store' | 'registry'> {
  readonly octokit: Parameters<typeof workInstallation>[1]['octokit']
  readonly log: Log
  /** See openApproved. */
  readonly valuesKey: string
}

interface WorkedCluster {
  readonly cluster: Pick<WatchedCluster, 'client' | 'kms' | 'opened' | 'run'>
  readonly again: () => void
  /** Called when the run begins: from now on the cluster tells how far it is. */
  readonly began: () => void
}

/** What became of a revision set when its run has ended. */
export type Ended = Pick<ApplyResults, 'revisionSet' | 'applied' | 'failure'>

/** A node that waits for a value of the cluster may have got it just now. */
const isChanged = ({ objects }: AppliedNode) =>
  objects.some(({ action }) => action === 'created' || action === 'configured')

/**
 * Evaluates a revision set here too, applies what is approved on both sides, and returns what became of it. Throws what passes
 * by itself and what ends with the signal; everything else is a result.
 */
export async function applyWork(
  { evaluator, store, registry, octokit, log, valuesKey }: WorkTools,
  binding: ClusterBinding,
  { cluster, again, began }: WorkedCluster,
  work: ClusterWork,
  signal: AbortSignal,
): Promise<Ended> {
  const { revisionSet } = work
  try {
    const installation = workInstallation(work, { store, registry, octokit })
    const [repository] = await fleetOf(binding, work, installation)
    const place = { repository: repository!, branch: binding.branch }
    const evaluated = await approvedNodes({ evaluator, disabledRules: [] }, binding, () => installation, place)
    const { share, atLeast, approved } = work.prunes
    const prunes = { limits: { share, atLeast }, approvals: async () => new Set(approved) }
    const agreed = agreedNodes(evaluated, work)
    const opening = { evaluator, valuesKey }
    const opened = { ...(await openApproved(opening, cluster, binding, agreed, signal)), prunes }
    began()
    const applied = await cluster.run(opened, signal)
    if (opened.awaitsValues && applied.some(isChanged)) again()
    return { revisionSet, applied }
  } catch (error) {
    if (signal.aborted || isPassing(error)) throw error
    log.error({ err: error, cluster: binding.name }, 'cluster could not be reconciled')
    const { message, fix } = asBailiwickError(error)
    return { revisionSet, applied: [], failure: fix ? `${message}. ${fix}` : message }
  }
}

/** Which repository, branch and cluster is this worker's own operator's word, and not the web process's. */
async function fleetOf(
  { name, fleet, branch }: ClusterBinding,
  work: ClusterWork,
  { repositories }: Pick<ReturnType<typeof workInstallation>, 'repositories'>,
) {
  const found = (await repositories()).filter(({ url }) => url.toLowerCase() === work.fleet.url.toLowerCase())
  const isBound = work.cluster === name && work.fleet.url === fleet && work.fleet.branch === branch
  if (isBound && found.length > 0) return found
  const message = `the web process offers ${work.fleet.url}#${work.fleet.branch} for ${work.cluster}: nothing is applied`
  throw new BailiwickError('not-permitted', `clusters.yaml binds ${name} to ${fleet}#${branch}, and ${message}`, {
    fix: 'Use the same clusters.yaml on both sides.',
  })
}
