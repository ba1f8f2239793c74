import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { capsuleReferenceOf } from '../../../fleet/tenancy/capsule.ts'
import { stringAt } from '../../../kube/node.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { userInfo } from '../../../kube/rbac/groups-of.ts'

const LABEL = ['metadata', 'labels', 'capsule.clastix.io/tenant']
const referenceOf = (namespace: KubeObject) => stringAt(namespace.root, LABEL) || capsuleReferenceOf(namespace)

/**
 * Capsule's words where its webhook refuses a node a Namespace that names a Tenant, from 0.13 on (internal/webhook/namespace/
 * validation of Capsule): only administrators and Capsule's users may write one. `known`: as it is before a change.
 */
export function namespaceAnswer(index: FleetIndex, node: FleetNode, object: KubeObject, known?: KubeObject) {
  const [is, was] = [referenceOf(object), known && referenceOf(known)]
  if (is === undefined && was === undefined) return undefined
  const { users, administrators, version = 0 } = index.capsule(node.cluster)
  const { name, groups } = userInfo(node.identity.user)
  if (version < 13 || [...users, ...administrators].some(one => one.name === name || groups.includes(one.name)))
    return undefined
  if (known === undefined || is === was) return 'only tenant owners can create tenant-owned namespaces'
  if (was === undefined) return 'namespace can not be patched into a tenant'
  return is === undefined
    ? 'namespace can not remove tenant ownership'
    : 'namespace can not be migrated between tenants'
}
