import { BailiwickError } from '../../src/base/errors.ts'
import { connect } from '../../src/cluster/api-client.ts'
import type { ClusterBinding } from '../../src/cluster/clusters-file.ts'
import type { OurRepository } from '../../src/github/client/octokit.ts'
import { mergedPull } from '../../src/github/pull-request.ts'
import type { Attempt, Reconcile } from '../../src/receive/queue.ts'
import { githubInstallation, InstallationRecord, recordedInstallation } from '../fleets/github-installation.ts'
import { findRepository, nameInAddress } from '../fleets/source-reader.ts'
import type { WorkerContext } from '../fleets/worker-context.ts'
import { pruneRecordOn, pullPruneRecord } from '../gate/evaluate-pull-request.ts'
import { finalError } from '../job-error.ts'
import { isChanged } from './apply-work.ts'
import { type Approved, approvedNodes, type CommitOf, commitOf } from './approved-nodes.ts'
import { type Offered, offerWork } from './offer-work.ts'
import { openApproved } from './open-approved.ts'
import { type Reporter, type ReportMemory, reportApplied, reportDriftSoon, reportProgress } from './report-applied.ts'
import { openWatchedCluster, type WatchedCluster } from './watched-cluster.ts'

/** What a process keeps between two runs, only to save requests. */
interface ReconcileMemory {
  readonly clusters: ReconciledClusters
  readonly reports: ReportMemory
  /** The last offers to the workers of clusters. */
  readonly offers: Map<string, Offered>
}

/** How often a running run is reported. */
const PROGRESS_MS = 10_000

/** Applies what is approved to one bound cluster, or has its worker do that, and reports on the commits. Repeatable. */
export async function reconcileCluster(
  context: WorkerContext,
  memory: ReconcileMemory,
  { cluster }: Reconcile,
  attempt: Attempt,
): Promise<void> {
  const binding = context.bindings.find(one => one.name === cluster && one.mode === 'reconcile')
  if (!binding) return
  const reporter = await reporterFor(context, memory, binding)
  const { installation } = reporter
  const repository = await findRepository(installation, { url: binding.fleet })
  if (!repository) throw unreadable(binding)
  const record = new InstallationRecord()
  const look = () => recordedInstallation(githubInstallation(context, installation.id, installation.octokit), record)
  const evaluated = await approvedNodes(context, binding, look, { repository, branch: binding.branch })
  const { pruneShare: share, pruneAtLeast: atLeast } = context.config
  const fleet = { url: binding.fleet, commit: evaluated.fleetCommit }
  const approvals = (keys: readonly string[]) => approvalsOf(reporter, fleet, evaluated, keys)
  const prunes = { limits: { share, atLeast }, approvals }
  if (binding.workerKey !== undefined) {
    const offer = { reporter, binding, approved: { ...evaluated, prunes }, fleet }
    memory.offers.set(cluster, offer)
    return offerWork(offer, record)
  }
  const about = { cluster, fleet, approved: { ...evaluated, prunes } }
  try {
    const watched = await memory.clusters.get(context, binding)
    const { evaluator, config } = context
    const opening = { evaluator, valuesKey: config.privateKey }
    const opened = await openApproved(opening, watched, binding, evaluated, attempt.signal)
    const approved = { ...opened, prunes }
    const retryAt = (key: string) => watched.retryAt(key)
    const shown = () => ({ ...about, approved, retryAt, drift: binding.reportDrift === false ? [] : watched.drift })
    const progress = setInterval(
      () => void reportProgress(reporter, { ...shown(), applied: watched.progress() }),
      PROGRESS_MS,
    )
    const applied = await watched.run(approved, attempt.signal).finally(() => clearInterval(progress))
    await reportApplied(reporter, { ...shown(), applied })
    watched.onDrift(() => reportDriftSoon(reporter, cluster, () => ({ ...shown(), applied })))
    if (approved.awaitsValues && applied.some(isChanged)) await context.queue.add('reconcile', { cluster })
  } catch (error) {
    const problem = reasonOf(finalError(error, attempt))
    context.log.error({ err: error, cluster }, 'cluster could not be reconciled')
    await reportApplied(reporter, { ...about, retryAt: () => undefined, applied: [], drift: [], problem })
  }
}

/** What is approved on the commits that the nodes come from, and on the fleet's. */
async function approvalsOf(
  { app, installation }: Reporter,
  fleet: CommitOf,
  evaluated: Approved,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const all = [fleet, ...keys.map(key => commitOf(fleet, evaluated, key))]
  const commits = new Map(all.map(one => [`${one.url} ${one.commit}`, one]))
  const approved: string[] = []
  for (const { url, commit } of [...commits.values()].slice(0, MAX_APPROVING)) {
    const repository = await findRepository(installation, { url })
    if (!repository) continue
    approved.push(...(await pruneApprovals({ ...repository, octokit: installation.octokit, app }, commit)))
  }
  return new Set(approved)
}

/** Limit of held nodes' commits whose approvals are read; the others wait. */
const MAX_APPROVING = 20

/** Why the run as a whole ended: the next resync tries again. */
function reasonOf({ fix, message }: BailiwickError): string {
  return fix ? `${message}. ${fix}` : message
}

async function reporterFor(
  context: WorkerContext,
  memory: ReconcileMemory,
  binding: ClusterBinding,
): Promise<Reporter> {
  const fleet = nameInAddress(binding.fleet)
  const found = fleet && (await context.app.installationOf({ owner: fleet.owner, repo: fleet.repo }))
  if (!found) throw unreadable(binding)
  const installation = githubInstallation(context, found.id, await context.app.client(found.id))
  return { context, app: await context.app.identity(), installation, memory: memory.reports }
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

/** What fleet admins allow to be deleted: digests recorded on the commit, and prints on its pull request. */
async function pruneApprovals(repository: OurRepository, commit: string): Promise<string[]> {
  const present = await pruneRecordOn(repository, commit)
  const pull = await mergedPull(repository, commit)
  const before = pull && (await pullPruneRecord(repository, pull))
  return [...(present?.digests ?? []), ...(before?.prints ?? [])]
}

type Context = Pick<WorkerContext, 'config' | 'log' | 'queue' | 'metrics'>

/** What this process keeps of each bound cluster: its connections, its kinds, what was applied there, its watches. */
export class ReconciledClusters {
  readonly #open = new Map<string, Promise<WatchedCluster>>()

  /** Throws `config` if the kubeconfig cannot be used; nothing is kept then. */
  async get(context: Context, binding: ClusterBinding): Promise<WatchedCluster> {
    const known = this.#open.get(binding.name)
    if (known) return known
    const cluster = open(context, binding)
    this.#open.set(binding.name, cluster)
    try {
      return await cluster
    } catch (error) {
      this.#open.delete(binding.name)
      throw error
    }
  }

  async close(): Promise<void> {
    const clusters = [...this.#open.values()]
    this.#open.clear()
    for (const one of await Promise.allSettled(clusters)) if (one.status === 'fulfilled') await one.value.close()
  }
}

async function open({ config, log, queue, metrics }: Context, binding: ClusterBinding): Promise<WatchedCluster> {
  const { name: cluster } = binding
  const again = () => {
    queue.add('reconcile', { cluster }).catch(error => {
      // the next resync does it
      log.warn({ err: error, cluster }, 'another run could not be promised')
    })
  }
  return openWatchedCluster(binding, {
    client: await connect(binding),
    resyncSeconds: config.resyncSeconds,
    log,
    again,
    onRevision: outcome => metrics.revisionShown(outcome),
  })
}
