import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { CAPSULE_LABEL, capsuleReferenceOf } from '../../../fleet/tenancy/capsule.ts'
import { stringAt } from '../../../kube/node.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { capsuleRoleOf } from './capsule-settings.ts'

/** How a Namespace names a Tenant. */
const namesIn = (namespace: KubeObject) => ({
  label: stringAt(namespace.root, ['metadata', 'labels', CAPSULE_LABEL]) || undefined,
  reference: capsuleReferenceOf(namespace),
})

/**
 * Capsule's words where its webhook refuses a node a Namespace that names a Tenant, from 0.13 on (internal/webhook/namespace/
 * validation of Capsule): only administrators and Capsule's users may write one. `known`: as it is before a change.
 */
export function namespaceAnswer(index: FleetIndex, node: FleetNode, object: KubeObject, known?: KubeObject) {
  const { label, reference } = namesIn(object)
  const { label: oldLabel, reference: oldReference } = known ? namesIn(known) : {}
  const [is, was] = [label ?? reference, oldLabel ?? oldReference]
  if (is === undefined && was === undefined) return undefined
  const { version = 0 } = index.capsule(node.cluster)
  if (version < 13 || capsuleRoleOf(index, node.cluster, node.identity.user)) return undefined
  if (is === undefined) return 'namespace can not remove tenant ownership'
  if (known && was === undefined) return 'namespace can not be patched into a tenant'
  if (reference === undefined) return `namespace has tenant label ${JSON.stringify(label)} but no Tenant ownerReference`
  if (label === undefined) return `namespace has Tenant ownerReference ${JSON.stringify(reference)} but no tenant label`
  if (label !== reference)
    return `namespace label ${JSON.stringify(label)} does not match owner reference ${JSON.stringify(reference)}`
  if (known === undefined) return 'only tenant owners can create tenant-owned namespaces'
  return is === was ? undefined : 'namespace can not be migrated between tenants'
}
