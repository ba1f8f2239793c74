import { BailiwickError } from '../../src/base/errors.ts'
import type { ApplyResults } from '../../src/cluster/channel/apply-results.ts'
import type { ClusterWork } from '../../src/cluster/channel/cluster-work.ts'
import type { ClusterBinding } from '../../src/cluster/clusters-file.ts'
import type { Registry } from '../../src/cluster/registry.ts'
import { ENGINE_VERSION } from '../../src/fleet/model/input.ts'
import { refKey } from '../../src/fleet/model/source-ref.ts'
import type { ObjectStore } from '../../src/git/object-store.ts'
import type { Octokit } from '../../src/github/client/octokit.ts'
import { readTree } from '../../src/github/contents/read-tree.ts'
import type { Repository } from '../../src/github/contents/repositories.ts'
import type { Log } from '../../src/process/log.ts'
import type { AppliedNode } from '../../src/report/apply-report.ts'
import type { Held } from '../../src/verdict/approve.ts'
import type { SourceInstallation, WorkerContext } from '../fleets/worker-context.ts'
import { asBailiwickError, isPassing } from '../job-error.ts'
import { type Approved, type ApprovedWithValues, approvedNodes } from './approved-nodes.ts'
import { openApproved } from './open-approved.ts'
import type { WatchedCluster } from './watched-cluster.ts'

/** The evaluator of this process, and where sources are read. */
export interface WorkTools extends Pick<WorkerContext, 'evaluator' | 'store' | 'registry'> {
  readonly octokit: Parameters<typeof workInstallation>[1]['octokit']
  readonly log: Log
  /** See openApproved. */
  readonly valuesKey: string
}

interface WorkedCluster {
  readonly cluster: Pick<WatchedCluster, 'client' | 'kms' | 'opened' | 'run'>
  readonly again: () => void
  /** Called when the run begins: from now on the cluster has its progress. */
  readonly began: () => void
}

/** The result of a run over a revision set. */
export type Ended = Pick<ApplyResults, 'revisionSet' | 'applied' | 'failure'>

/** A changed object may be a value that another node waits for. */
export const isChanged = ({ objects }: AppliedNode) =>
  objects.some(({ action }) => action === 'created' || action === 'configured')

/**
 * Evaluates a revision set here too, applies what both sides approve, and returns the result. Throws temporary errors
 * and those of an abort; every other error is part of the result.
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

/** The operator of this worker decides repository, branch and cluster, not the web process. */
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

/**
 * The nodes that both the web process and this worker approve: one whose digest differs, or whose parent is not
 * applied, is held. Throws `source-unreadable` if the worker sees fewer nodes than were evaluated, because it would
 * prune the others.
 */
export function agreedNodes(approved: ApprovedWithValues, work: ClusterWork): ApprovedWithValues {
  const present = new Set(approved.nodes.map(({ key }) => key))
  const unseen = work.nodes.find(key => !present.has(key))
  if (unseen !== undefined) {
    throw new BailiwickError(
      'source-unreadable',
      `${unseen} was evaluated by the web process, and is not visible here`,
      {
        fix: `Run the same version on both sides (engine ${work.engine} there, ${ENGINE_VERSION} here), with the same OCI_HOSTS.`,
      },
    )
  }
  const digests = new Map(work.apply.map(({ key, digest }) => [key, digest]))
  const reasons = new Map(work.held.map(({ key, reason }) => [key, reason]))
  const agreed = new Set<string>()
  const apply: Approved['apply'][number][] = []
  const waiting = new Map(work.waiting.map(({ key, digest }) => [key, digest]))
  const own = new Map(approved.nodes.map(({ key, digest }) => [key, digest]))
  // what both sides hold until the values are known may be opened; whatever else is held stays held
  const held: Held[] = approved.held.map(({ node, reason, by, ...more }) => {
    const isSame = by !== undefined && waiting.has(node) && waiting.get(node) === own.get(node)
    return isSame ? { node, reason, by, ...more } : { node, reason: reasons.get(node) ?? reason, ...more }
  })
  for (const node of approved.apply) {
    const reason = whyNot(node, digests, reasons, present, agreed, work.engine)
    if (reason !== undefined) {
      held.push({ node: node.key, reason })
      continue
    }
    agreed.add(node.key)
    apply.push(node)
  }
  const closed = new Set(held.filter(({ by }) => by === undefined).map(({ node }) => node))
  return { ...approved, apply, held, open: approved.open.filter(({ key }) => !closed.has(key)) }
}

function whyNot(
  { key, parent, applyDigest }: Approved['apply'][number],
  digests: ReadonlyMap<string, string>,
  reasons: ReadonlyMap<string, string>,
  present: ReadonlySet<string>,
  agreed: ReadonlySet<string>,
  engine: string,
): string | undefined {
  const digest = digests.get(key)
  if (digest === undefined) return reasons.get(key) ?? 'the web process did not evaluate it'
  if (digest !== applyDigest)
    return `the web process approved other content (its engine is ${engine}, that of the worker ${ENGINE_VERSION})`
  if (parent !== null && present.has(parent) && !agreed.has(parent)) return `its parent ${parent} is held`
  return undefined
}

interface WorkSources {
  readonly store: ObjectStore
  readonly registry: Registry
  /** A client that reads the content of one repository. */
  readonly octokit: (repository: number) => Octokit
}

/**
 * The sources of one revision set for an evaluation: refs resolve to what the web process evaluated, content is read
 * from GitHub and registries by commit and digest. A source that the work does not name does not exist here.
 */
export function workInstallation(work: ClusterWork, { store, registry, octokit }: WorkSources): SourceInstallation {
  const repositories = work.repositories.map(
    ({ name: repo, ...one }): Repository => ({ ...one, repo, pushedAt: one.pushedAt === '' ? null : one.pushedAt }),
  )
  const heads = new Map(work.heads.map(({ url, ref, commit }) => [`${url} ${refKey(ref)}`, commit]))
  const parents = new Map(work.parents.map(({ repository, commit, parent }) => [`${repository} ${commit}`, parent]))
  const names = new Map(work.names.map(({ owner, repo, id }) => [`${owner}/${repo}`.toLowerCase(), id]))
  const artifacts = new Map(work.artifacts.map(({ url, ref, ...head }) => [`${url} ${refKey(ref)}`, head]))
  const idOf = (owner: string, repo: string) =>
    names.get(`${owner}/${repo}`.toLowerCase()) ??
    repositories.find(one => `${one.owner}/${one.repo}`.toLowerCase() === `${owner}/${repo}`.toLowerCase())?.id
  return {
    registry: {
      ...registry,
      headOf: async (url, followed) => artifacts.get(`${url} ${refKey({ registry: followed })}`),
    },
    repositories: async () => repositories,
    head: async ({ url }, ref) => heads.get(`${url} ${refKey(ref)}`),
    lookUp: async ({ owner, repo }) => {
      const found = repositories.find(({ id }) => id === idOf(owner, repo))
      if (!found) return undefined
      const { id, url, visibility } = found
      return { id, owner: found.owner, repo: found.repo, url, visibility }
    },
    leadsTo: async ({ owner, repo }) => idOf(owner, repo),
    // roles of people only count for pull requests, which are not evaluated here
    mayRead: async () => false,
    administers: async () => false,
    requiresCheck: async () => false,
    isAdopted: async ({ repository: { id }, commit, file, url }) =>
      work.adopted.some(one => one.repository === id && one.commit === commit && one.file === file && one.url === url),
    parent: async ({ id }, commit) => parents.get(`${id} ${commit}`),
    content: ({ id, owner, repo }, commit, tree) =>
      readTree({ octokit: octokit(id), owner, repo, commit, ...(tree === undefined ? {} : { tree }) }, store),
  }
}
