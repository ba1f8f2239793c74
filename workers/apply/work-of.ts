import type { ClusterWork, WorkRepository } from '../../src/channel/cluster-work.ts'
import type { ClusterBinding } from '../../src/cluster/clusters-file.ts'
import { ENGINE_VERSION } from '../../src/fleet/model/engine-version.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import type { InstallationRecord } from '../fleets/recorded-installation.ts'
import type { Approved } from './approved-nodes.ts'

interface WorkInput {
  readonly binding: Pick<ClusterBinding, 'name' | 'fleet' | 'branch'>
  readonly approved: Approved
  readonly record: InstallationRecord
  /** All that the installation has. */
  readonly repositories: readonly ReadableRepository[]
  readonly prunes: ClusterWork['prunes']
}

/**
 * What the worker of one cluster is told: the approved revision set, and of repositories only those whose content its own
 * nodes hold, beside the fleet's. What other clusters read is not named.
 */
export function workOf({ binding, approved, record, repositories, prunes }: WorkInput): ClusterWork {
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
    revisionSet: evaluation.verdict.combination,
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

/** By its address now, or by one that it had and GitHub leads on from. */
function leadsTo(address: string, { id, url }: ReadableRepository, { names }: InstallationRecord): boolean {
  if (address.toLowerCase() === url.toLowerCase()) return true
  const [, owner = '', repo = ''] = /^https:\/\/[^/]+\/([^/]+)\/([^/]+)$/.exec(address) ?? []
  return names.get(`${owner}/${repo}`.toLowerCase())?.id === id
}

function described(one: ReadableRepository): WorkRepository {
  const { id, owner, name, url, defaultBranch, archived, createdAt, pushedAt, visibility } = one
  return { id, owner, name, url, defaultBranch, archived, createdAt, pushedAt: pushedAt ?? '', visibility }
}
