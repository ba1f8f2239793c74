import { mayCreateNamespace } from '../../fleet/capsule.ts'
import type { FleetNode } from '../../fleet/fleet.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import type { FleetIndex } from '../fleet-index.ts'
import type { Breach, Rule } from '../rule.ts'
import { shownIdentity, shownObject } from '../shown.ts'

/** Objects that belong to the whole cluster are the platform's, whatever namespace a tenant writes into them. */
export const clusterScopedForbidden: Rule = {
  id: 'cluster-scoped-forbidden',
  severity: 'critical',
  title: 'Cluster-scoped objects are the platform’s',
  why: 'A ClusterRoleBinding, a webhook configuration, a Namespace or a definition of a kind changes the cluster for everybody. A `metadata.namespace` in such an object means nothing.',
  docs: 'Ask the platform admins to put the object into the fleet repository. With Capsule, an account that owns a Tenant may create Namespaces of its own.',
  kinds: 'every',
  *checkObject({ object, node }, { index }) {
    if (node.tenant === undefined) return
    const breach = judge(index, node, node.tenant, object)
    if (breach) yield breach
  },
}

function judge(index: FleetIndex, node: FleetNode, tenant: string, object: KubeObject): Breach | undefined {
  const { apiVersion, kind, name } = idOf(object)
  if (index.scopeOf(node.cluster, apiVersion, kind) !== 'Cluster') return undefined
  const isNamespace = kind === 'Namespace' && groupOf(apiVersion) === ''
  if (isNamespace && mayCreate(index, node, tenant, name)) return undefined
  return {
    node,
    object,
    path: ['kind'],
    value: kind,
    message: `${shownObject(kind, '', name)} belongs to the whole cluster; it would be applied by ${shownIdentity(node.identity)}, which acts for a tenant. Allowed are objects in the tenant's namespaces. Kubernetes would say, unless the account has such rights: cannot patch resource at the cluster scope.`,
    fix: 'Remove the object, or ask the platform admins to put it into the fleet repository.',
  }
}

function mayCreate(index: FleetIndex, node: FleetNode, tenant: string, name: string): boolean {
  return (
    index.owns(node.cluster, tenant, name) &&
    index.platformObject(node.cluster, '/Namespace', '', name) === undefined &&
    mayCreateNamespace(node.identity, name, index.capsuleOwners(node.cluster))
  )
}
