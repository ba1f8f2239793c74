import type { VerdictFilter } from '../evaluate/verdict/filter-verdict.ts'
import { type Changes, type NodeChange, sumCounts } from './changes.ts'

/** Of what a change does, what concerns these clusters and tenants; the Kustomizations of others are counted. */
export function filterChanges(changes: Changes, filter: VerdictFilter): Changes {
  const clusters = new Set(filter.clusters)
  const tenants = new Set(filter.tenants)
  const onCluster = (name: string) => clusters.size === 0 || clusters.has(name)
  const ofTenant = (name: string) => tenants.size === 0 || tenants.has(name)
  // its key begins with the cluster on which it stands, which may apply it to another
  const isKept = ({ cluster, node, tenant }: NodeChange) =>
    (onCluster(cluster) || onCluster(node.slice(0, node.indexOf('/')))) && ofTenant(tenant)
  const nodes = changes.nodes.filter(isKept)
  return {
    ...changes,
    nodes,
    rights: changes.rights.filter(({ cluster, tenant }) => onCluster(cluster) && ofTenant(tenant)),
    // of a tenant with clusters that are not listed it may be one
    tenants: changes.tenants.filter(
      ({ name, clusters: on, left }) => ofTenant(name) && (left.clusters > 0 || on.some(onCluster)),
    ),
    clusters: changes.clusters.filter(({ name }) => onCluster(name)),
    totals: sumCounts(nodes.map(({ counts }) => counts)),
    hidden: changes.hidden + changes.nodes.length - nodes.length,
  }
}
