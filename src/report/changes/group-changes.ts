import type { Changes, NodeChange } from '../../diff/changes.ts'

/** The same change of a Kustomization on one or more clusters: said once. */
export interface NodeGroup {
  readonly node: NodeChange
  readonly clusters: readonly string[]
}

/** What a tenant ('': the platform) gets on clusters that all get the same. */
export interface TenantGroup {
  readonly tenant: string
  readonly clusters: readonly string[]
  readonly nodes: readonly NodeChange[]
}

/** Puts equal changes of several clusters together, in the order in which they come. */
export function groupNodes(changes: Changes): NodeGroup[] {
  const groups = new Map<string, { node: NodeChange; clusters: string[] }>()
  for (const node of changes.nodes) {
    const key = JSON.stringify({ ...node, node: '', cluster: '', objects: node.objects.map(withoutCluster) })
    const group = groups.get(key)
    if (group) group.clusters.push(node.cluster)
    else groups.set(key, { node, clusters: [node.cluster] })
  }
  return [...groups.values()]
}

/** The groups of nodes by tenant and clusters: the platform first, then by name. */
export function groupTenants(changes: Changes): TenantGroup[] {
  const groups = Map.groupBy(groupNodes(changes), ({ node, clusters }) => JSON.stringify([node.tenant, clusters]))
  return [...groups.values()]
    .map(all => ({
      tenant: all[0]!.node.tenant,
      clusters: all[0]!.clusters,
      nodes: all.map(({ node }) => node),
    }))
    .sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
}

const orderOf = ({ tenant, clusters }: TenantGroup): string => [tenant, ...clusters].join('\0')

/** Another Kustomization is named by its key, which begins with the cluster. */
function withoutCluster(object: NodeChange['objects'][number]): unknown {
  return object.node === undefined ? object : { ...object, node: object.node.split('/').slice(1).join('/') }
}
