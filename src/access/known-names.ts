import type { Fleet } from '../fleet/model/fleet.ts'
import { KUBERNETES_NAMESPACES } from '../kube/names.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import type { Authorizer } from '../kube/rbac/authorizer.ts'
import { customPlurals } from '../kube/rbac/resource-name.ts'
import { ResourceTable } from '../kube/rbac/resource-table.ts'
import { customScopes } from '../kube/scope/scope.ts'

/** Namespaces that every cluster has. */
const ALWAYS = ['default', ...KUBERNETES_NAMESPACES]

/** The resources of these clusters, including the custom ones that the platform defines. */
export function knownResources(fleet: Fleet, clusters: readonly string[]): ResourceTable {
  const platform = fleet.nodes.filter(node => clusters.includes(node.cluster) && node.tenant === undefined)
  const objects: KubeObject[] = platform.flatMap(node => node.objects)
  return new ResourceTable(customScopes(objects), customPlurals(objects))
}

/** The namespaces that the fleet creates or deploys to on a cluster, sorted. */
export function knownNamespaces(fleet: Fleet, cluster: string): string[] {
  const namespaces = new Set(ALWAYS)
  for (const node of fleet.nodes) {
    if (node.cluster !== cluster) continue
    namespaces.add(node.namespace)
    for (const object of node.objects) {
      const { kind, namespace, name } = idOf(object)
      if (namespace) namespaces.add(namespace)
      else if (kind === 'Namespace' && name) namespaces.add(name)
    }
  }
  return [...namespaces].sort()
}

/** Whether a binding on the cluster has this user as a subject of kind User. */
export function isKnownUser(authorizer: Authorizer, user: string): boolean {
  return authorizer.bindings
    .namespaces()
    .some(namespace =>
      authorizer.bindings.of({ name: user, groups: [] }, namespace).some(({ subject }) => subject.kind === 'User'),
    )
}
