import type { EvaluatedNode } from '../../rules/model/finding.ts'
import type { GraphNode } from './check-page.ts'

/**
 * The Kustomizations that an audience may see, parents first: without an audience all of them, else the tenants' own;
 * what brings these to the cluster is the platform's, and may be called after others.
 */
export function graphOf(nodes: readonly EvaluatedNode[], audience: readonly string[] | undefined): GraphNode[] {
  const isMine = ({ tenant }: EvaluatedNode) => audience === undefined || (tenant !== null && audience.includes(tenant))
  const seen = nodes.filter(node => isMine(node) && !node.narrower)
  const keys = new Set(seen.map(node => node.key))
  return seen.map(({ key, parent, cluster, namespace, name, tenant, user, source, objects, suspend }) => ({
    key,
    parent: parent !== null && keys.has(parent) ? parent : null,
    cluster,
    namespace,
    name,
    tenant: tenant ?? '',
    identity: user,
    source: { id: source.id, url: source.url, commit: source.commit, notSeen: source.opaque ?? '' },
    objects: objects.length,
    suspend,
  }))
}
