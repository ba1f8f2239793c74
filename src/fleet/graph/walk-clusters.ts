import { artifactPath } from '../../flux/artifact-path.ts'
import { ROOT_NAME } from '../../flux/kinds.ts'
import { idOf } from '../../kube/object.ts'
import { isLayoutPath } from '../bootstrap/cluster-names.ts'
import { folderOf, isWithin } from '../bootstrap/sync-roots.ts'
import type { ClusterRoot } from '../model/cluster-root.ts'
import type { FleetNode, NodeSource } from '../model/fleet.ts'
import { refKey } from '../model/ref.ts'
import { type Walked, type WalkInput, walkCluster } from './walk-cluster.ts'

/**
 * Walks the clusters that start from these roots, in their order. A root in what an earlier cluster lets a tenant write is
 * none: a tenant would make a cluster whose platform they are. Nor is one that another cluster leads to. A folder of the layout that says nothing of itself is none
 * where another cluster applies it, or where it only holds the folders of clusters.
 */
export function walkClusters(roots: readonly ClusterRoot[], input: WalkInput): Walked[] {
  const walked: { readonly root: ClusterRoot; result: Walked }[] = []
  for (const root of roots) {
    const isGiven = root.how === 'declared' || isLayoutPath(root.path)
    const letting = isGiven
      ? undefined
      : walked.find(one => tenantFolders(one.result.nodes, input).some(folder => isIn(root, folder)))
    if (letting) {
      letting.result = withTenantStart(letting.result, root)
      continue
    }
    if (walked.some(({ result }) => leadsTo(root, result.nodes))) continue
    walked.push({ root, result: walkCluster(root, input) })
  }
  const stated = walked.filter(({ root }) => root.how !== 'layout')
  const applied = stated.flatMap(({ result }) =>
    foldersOf(result.nodes, input, node => node.tenant === undefined && node.parent !== undefined),
  )
  const isOwn = ({ root: { how, path, bare } }: (typeof walked)[number]) => {
    if (how !== 'layout') return true
    if (applied.includes(path)) return false
    return !bare || ![...applied, ...stated.map(({ root }) => root.path)].some(below => isWithin(below, path))
  }
  return walked
    .filter(isOwn)
    .map(({ result }) => result)
    .sort((a, b) => (a.cluster.name < b.cluster.name ? -1 : 1))
}

/** A cluster, with what a tenant of it may write that would start another one. */
function withTenantStart(result: Walked, { path, origin }: ClusterRoot): Walked {
  const { cluster } = result
  const tenantStarts = [...(cluster.tenantStarts ?? []), { file: origin?.file ?? path, text: path }]
  return { ...result, cluster: { ...cluster, tenantStarts } }
}

/** Whether another cluster makes its Kustomization one of its own: then it is no start. */
function leadsTo({ kustomization }: ClusterRoot, nodes: readonly FleetNode[]): boolean {
  if (!kustomization) return false
  const { namespace, name } = idOf(kustomization)
  if (name === ROOT_NAME) return false
  return nodes.some(node => node.parent !== undefined && node.namespace === namespace && node.name === name)
}

const isIn = ({ path, origin }: ClusterRoot, folder: string): boolean =>
  isWithin(path, folder) || (origin !== undefined && isWithin(folderOf(origin.file), folder))

/** The folders that the platform lets tenants write; what a tenant leads to itself says nothing of who writes there. */
function tenantFolders(nodes: readonly FleetNode[], input: WalkInput): string[] {
  const platform = new Set(nodes.flatMap(({ key, tenant }) => (tenant === undefined ? [key] : [])))
  const isGiven = ({ tenant, parent }: FleetNode) =>
    tenant !== undefined && parent !== undefined && platform.has(parent)
  return foldersOf(nodes, input, isGiven).filter(folder => folder !== '')
}

/** The folders of the fleet's own repository that nodes apply. */
function foldersOf(
  nodes: readonly FleetNode[],
  { sources: { own } }: WalkInput,
  which: (node: FleetNode) => boolean,
): string[] {
  const isOwn = ({ url, ref, opaque }: NodeSource) =>
    opaque === undefined && url === own.url && refKey(ref) === refKey(own.ref)
  return nodes.filter(node => which(node) && isOwn(node.source)).map(node => artifactPath(node.path))
}
