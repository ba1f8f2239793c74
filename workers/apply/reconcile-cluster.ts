import type { ClusterBinding } from '../../src/cluster/clusters-file.ts'
import { BailiwickError } from '../../src/errors.ts'
import type { Attempt, Reconcile } from '../../src/queue/queue.ts'
import type { AppliedNode } from '../../src/report/apply-report.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { findRepository } from '../fleets/find-repository.ts'
import { githubInstallation } from '../fleets/github-installation.ts'
import { asBailiwickError, isTriedAgain } from '../job-error.ts'
import { approvedNodes } from './approved-nodes.ts'
import { pruneApprovals } from './prune-approvals.ts'
import type { ReconciledClusters } from './reconciled-clusters.ts'
import { type Speaker, sayApplied } from './say-applied.ts'

/** What a process keeps between two runs: only what spares requests. */
interface ReconcileMemory {
  readonly clusters: ReconciledClusters
  readonly said: Map<string, string>
}

/** Brings one bound cluster to what is approved now, and says on the commits what came of it. Safe to run at any time, any number of times. */
export async function reconcileCluster(
  context: WorkerContext,
  memory: ReconcileMemory,
  { cluster }: Reconcile,
  attempt: Attempt,
): Promise<void> {
  const binding = context.bindings.find(one => one.name === cluster && one.mode === 'reconcile')
  if (!binding) return
  const speaker = await speakerFor(context, memory, binding)
  const { installation } = speaker
  const repository = await findRepository(installation, { url: binding.fleet })
  if (!repository) throw unreadable(binding)
  const look = () => githubInstallation(context, installation.id, speaker.octokit)
  const evaluated = await approvedNodes(context, binding, look, { repository, branch: binding.branch })
  const { pruneShare: share, pruneAtLeast: atLeast } = context.config
  const name = { owner: repository.owner, repo: repository.name }
  const approvals = () => pruneApprovals(speaker.octokit, speaker.app, name, evaluated.fleetCommit)
  const approved = { ...evaluated, prunes: { limits: { share, atLeast }, approvals } }
  const fleet = { url: binding.fleet, commit: approved.fleetCommit }
  try {
    const applied = await (await memory.clusters.get(context, binding)).run(approved, attempt.signal)
    await sayApplied(speaker, cluster, fleet, approved, applied)
  } catch (error) {
    if (isTriedAgain(error, attempt)) throw error
    context.log.error({ err: error, cluster }, 'cluster could not be reconciled')
    await sayApplied(speaker, cluster, fleet, approved, [stopped(binding, asBailiwickError(error))])
  }
}

/** The run as a whole, said on the fleet's commit: the next resync tries again. */
function stopped({ name }: ClusterBinding, error: BailiwickError): AppliedNode {
  const reason = error.fix ? `${error.message}. ${error.fix}` : error.message
  return { key: name, user: '', outcome: 'failed', reason, objects: [] }
}

async function speakerFor(context: WorkerContext, memory: ReconcileMemory, binding: ClusterBinding): Promise<Speaker> {
  const [, owner, repo] = /^https:\/\/[^/]+\/([^/]+)\/([^/]+)$/.exec(binding.fleet) ?? []
  const found = owner && repo ? await context.app.installationOf({ owner, repo }) : undefined
  if (!found) throw unreadable(binding)
  const octokit = await context.app.client(found.id)
  const installation = githubInstallation(context, found.id, octokit)
  return { octokit, app: await context.app.identity(), installation, said: memory.said }
}

function unreadable(binding: ClusterBinding): BailiwickError {
  return new BailiwickError(
    'source-unreadable',
    `the fleet ${binding.fleet} of cluster ${binding.name} cannot be read`,
    {
      fix: 'Install the App on this repository, or correct `fleet` in clusters.yaml.',
    },
  )
}
