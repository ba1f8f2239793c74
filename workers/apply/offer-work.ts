import type { ApplyResults } from '../../src/cluster/channel/apply-results.ts'
import type { ClusterWork, WorkRepository } from '../../src/cluster/channel/cluster-work.ts'
import type { ClusterBinding } from '../../src/cluster/clusters-file.ts'
import { ENGINE_VERSION } from '../../src/fleet/model/input.ts'
import type { Repository } from '../../src/github/contents/repositories.ts'
import type { PublishResults } from '../../src/receive/queue.ts'
import type { AppliedNode } from '../../src/report/apply-report.ts'
import type { InstallationRecord } from '../fleets/github-installation.ts'
import type { WorkerContext } from '../fleets/worker-context.ts'
import type { Approved, ApprovedWithValues, CommitOf } from './approved-nodes.ts'
import { type Reporter, reportApplied, reportProgress } from './report-applied.ts'

/**
 * For a cluster that has a worker of its own: stores what is approved for it, and publishes what it reported about
 * exactly that. The worker exchanges both with the web process only.
 */
export async function offerWork(offer: Offered, record: InstallationRecord): Promise<void> {
  const { reporter, binding, approved } = offer
  const { config, work } = reporter.context
  const { name: cluster } = binding
  const last = await work.reported(cluster)
  // approvals matter only if something waits for them
  const waiting = last ? waitingNodes(last) : []
  const digests = waiting.length > 0 ? await approved.prunes?.approvals(waiting) : undefined
  const prunes = { share: config.pruneShare, atLeast: config.pruneAtLeast, approved: [...(digests ?? [])] }
  const { installation } = reporter
  const repositories = await installation.repositories()
  const offered = workOf({ binding, approved, record, repositories, prunes })
  await work.offer(cluster, { installation: installation.id, work: offered })
  if (last?.revisionSet === offered.revisionSet) await publishReported(offer, last)
}

/** Keys of the nodes that the worker does not apply. */
function waitingNodes({ applied }: Pick<ApplyResults, 'applied'>): string[] {
  return applied.filter(({ outcome }) => outcome === 'held').map(({ key }) => key)
}

/** What the worker of a cluster may apply, and the reporter of its results. */
export interface Offered {
  readonly reporter: Reporter
  readonly binding: ClusterBinding
  readonly approved: ApprovedWithValues
  readonly fleet: CommitOf
}

interface WorkInput {
  readonly binding: Pick<ClusterBinding, 'name' | 'fleet' | 'branch'>
  readonly approved: Approved
  readonly record: InstallationRecord
  /** All repositories of the installation. */
  readonly repositories: readonly Repository[]
  readonly prunes: ClusterWork['prunes']
}

/**
 * The work for the worker of one cluster: the approved revision set, and of repositories only the fleet's and those
 * that its own nodes read. Sources of other clusters are not named.
 */
function workOf({ binding, approved, record, repositories, prunes }: WorkInput): ClusterWork {
  const { name: cluster, fleet: url, branch } = binding
  const { nodes, apply, held, fleetCommit, evaluation } = approved
  const parts = nodes.flatMap(({ source, charts = [] }) => [source, ...(source.includes ?? []), ...charts])
  const urls = new Set([url, ...parts.filter(({ commit }) => commit !== '').map(part => part.url)])
  const own = repositories.filter(one => [...urls].some(address => leadsTo(address, one, record)))
  const ids = new Set(own.map(({ id }) => id))
  const ofOwn = (one: { readonly repository: number }) => ids.has(one.repository)
  return {
    cluster,
    engine: ENGINE_VERSION,
    fleet: { url, branch, commit: fleetCommit },
    revisionSet: evaluation.verdict.revisionSet,
    repositories: own.map(described),
    heads: [...record.heads.values()]
      .filter(ofOwn)
      .map(head => ({ url: head.url, ref: head.ref, commit: head.commit })),
    artifacts: [...record.artifacts.values()].filter(one => urls.has(one.url)),
    parents: [...record.parents.values()].filter(ofOwn),
    adopted: [...record.adopted.values()].filter(ofOwn),
    names: [...record.names.values()].filter(({ id }) => ids.has(id)),
    nodes: nodes.map(({ key }) => key),
    apply: apply.map(({ key, applyDigest }) => ({ key, digest: applyDigest })),
    held: held.map(({ node, reason }) => ({ key: node, reason })),
    waiting: held.flatMap(({ node, by }) => (by === undefined ? [] : [{ key: node, digest: digestOf(nodes, node) }])),
    prunes,
  }
}

const digestOf = (nodes: Approved['nodes'], key: string): string => nodes.find(one => one.key === key)?.digest ?? ''

/** Whether an address is the repository's present one, or an earlier one that GitHub redirects. */
function leadsTo(address: string, { id, url }: Repository, { names }: InstallationRecord): boolean {
  if (address.toLowerCase() === url.toLowerCase()) return true
  const [, owner = '', repo = ''] = /^https:\/\/[^/]+\/([^/]+)\/([^/]+)$/.exec(address) ?? []
  return names.get(`${owner}/${repo}`.toLowerCase())?.id === id
}

function described(one: Repository): WorkRepository {
  const { id, owner, repo: name, url, defaultBranch, archived, createdAt, pushedAt, visibility } = one
  return { id, owner, name, url, defaultBranch, archived, createdAt, pushedAt: pushedAt ?? '', visibility }
}

/** How often at most a worker's reports of waiting nodes have the fleet evaluated. */
const APPROVALS_EVERY_MS = 5_000

/**
 * Publishes the last report of a cluster's worker. Does not evaluate again if this process offered the work; otherwise
 * a run of `reconcile` publishes it. If a node waits for an approval, `reconcile` looks for one.
 */
export async function publishResults(
  { work, queue }: Pick<WorkerContext, 'work' | 'queue'>,
  offers: ReadonlyMap<string, Offered>,
  { cluster }: PublishResults,
): Promise<void> {
  const results = await work.reported(cluster)
  if (!results) return
  const offer = offers.get(cluster)
  if (offer?.approved.evaluation.verdict.revisionSet !== results.revisionSet) return queue.add('reconcile', { cluster })
  await publishReported(offer, results)
  const approved = new Set(offer.approved.apply.map(({ key }) => key))
  const isWaiting = !results.isRunning && waitingNodes(results).some(key => approved.has(key))
  if (isWaiting) await queue.add('reconcile', { cluster }, { delayMs: APPROVALS_EVERY_MS })
}

/** Publishes a worker's report, limited by attributeResults, like the results of a worker of the site. */
async function publishReported({ reporter, binding, approved, fleet }: Offered, results: ApplyResults): Promise<void> {
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

/** How many removed Kustomizations of one report are listed. */
const MAX_GONE = 1_000

/**
 * Limits the report of a cluster's worker: results of approved nodes; of others only that they are gone; never that a
 * held node was applied. An approved node that it leaves out has failed, once the run is over.
 */
export function attributeResults(
  cluster: string,
  { nodes, apply, held }: Pick<Approved, 'nodes' | 'apply' | 'held'>,
  { applied: reported, isRunning }: Pick<ApplyResults, 'applied' | 'isRunning'>,
): AppliedNode[] {
  const byKey = new Map(reported.map(one => [one.key, one]))
  const known = new Set(nodes.map(({ key }) => key))
  const users = new Map(nodes.map(({ key, user }) => [key, user]))
  const ofApproved = apply.flatMap(({ key, user }): AppliedNode[] => {
    const one = byKey.get(key)
    if (one) return [{ ...one, user }]
    if (isRunning) return []
    return [{ key, user, outcome: 'failed', reason: 'the worker of the cluster did not report it', objects: [] }]
  })
  const ofHeld = held.map(({ node: key, reason, by }): AppliedNode => {
    // the worker decides about nodes that wait for values of its cluster
    const one = by === undefined ? undefined : byKey.get(key)
    if (one) return { ...one, user: users.get(key) ?? '' }
    return { key, user: users.get(key) ?? '', outcome: 'held', reason, objects: [] }
  })
  const gone = reported.filter(({ key }) => !known.has(key) && key.startsWith(`${cluster}/`))
  const left = gone.length - MAX_GONE
  const named = gone.slice(0, MAX_GONE).map((one, at) => {
    const isLast = left > 0 && at === MAX_GONE - 1
    return isLast ? { ...one, note: `${left} more Kustomizations that git no longer has are not listed` } : one
  })
  return [...ofApproved, ...ofHeld, ...named]
}
