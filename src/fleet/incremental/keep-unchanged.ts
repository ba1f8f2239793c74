import type { Cluster, Fleet } from '../model/fleet.ts'
import { sameDeep } from '../model/same-deep.ts'
import { sameNode } from '../model/same-node.ts'
import { sameAccess } from '../sources/same-access.ts'

/** The same fleet, whose parts that are as they were before are the very parts of before. */
export function keepUnchanged(fleet: Fleet, before: Fleet): Fleet {
  const nodes = new Map(before.nodes.map(node => [node.key, node]))
  const clusters = new Map(before.clusters.map(cluster => [cluster.name, cluster]))
  const kept = fleet.nodes.map(node => {
    const known = nodes.get(node.key)
    return known && sameNode(known, node) ? known : node
  })
  return {
    ...fleet,
    nodes: kept,
    clusters: fleet.clusters.map((cluster): Cluster => {
      const known = clusters.get(cluster.name)
      return known && sameDeep(known, cluster) ? known : cluster
    }),
    tenants: sameDeep(before.tenants, fleet.tenants) ? before.tenants : fleet.tenants,
    config: sameDeep(before.config, fleet.config) ? before.config : fleet.config,
    proposed: sameDeep(before.proposed, fleet.proposed) ? before.proposed : fleet.proposed,
    ...(fleet.access ? { access: sameAccess(before.access, fleet.access) ? before.access! : fleet.access } : {}),
  }
}
