import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { kindOf } from '../../../facts/kind-of.ts'
import { objectPart, quoted } from '../../../facts/shown.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { CAPSULE_GROUP } from '../../../fleet/tenancy/capsule.ts'
import { KUSTOMIZATION } from '../../../flux/kinds.ts'
import { idOf, type KubeObject } from '../../../kube/object.ts'
import { codeWord, message, part } from '../../../message/message.ts'
import type { Violation } from '../../model/rule.ts'

/** Namespaces of tenants and Capsule Tenants among what a Kustomization of the platform would delete, with all that is in them. */
export function* removedTenant(
  gone: readonly KubeObject[],
  node: FleetNode,
  before: FleetIndex,
  index: FleetIndex,
): Iterable<Violation> {
  for (const object of gone) {
    if (!isTenants(object, node, before, index)) continue
    const { kind, name } = idOf(object)
    const owner = before.ownerOf(node.cluster, name) ?? ''
    const lost =
      kind === 'Namespace'
        ? message`everything in it, of tenant ${quoted('tenant', owner)}`
        : message`every namespace that Capsule created for it`
    yield {
      node,
      object,
      path: ['metadata', 'name'],
      origin: node.kustomization.root.origin,
      value: 'removed',
      message: message`${objectPart(kind, '', name)} is removed, so Kubernetes would delete ${lost}. Allowed: a change that keeps it.`,
      fix: message`Restore the ${part('value', kind)}, or add the annotation ${codeWord('kustomize.toolkit.fluxcd.io/prune: disabled')} in an earlier change. To remove the tenant, waive mass-deletion for this ${part('value', kind)} or merge with an override.`,
    }
  }
}

function isTenants(object: KubeObject, node: FleetNode, before: FleetIndex, index: FleetIndex): boolean {
  const kind = kindOf(object)
  if (kind === `${CAPSULE_GROUP}/Tenant`) return true
  const { name } = idOf(object)
  if (kind !== '/Namespace' || before.ownerOf(node.cluster, name) === undefined) return false
  // where a Kustomization in it goes too, that says enough
  const inside = before.rendered(node.cluster, KUSTOMIZATION, name)
  return inside.every(({ object: child }) => {
    const was = before.nodeOf(node.cluster, child)
    return !was?.tenant || !was.prune || was.suspend || index.node(was.key) !== undefined
  })
}
