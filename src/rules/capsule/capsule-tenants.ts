import type { Identity } from '../../fleet/fleet.ts'
import { at, type Node, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type { FleetIndex } from '../fleet-index.ts'

export const TENANT = 'capsule.clastix.io/Tenant'
export const CONFIGURATION = 'capsule.clastix.io/CapsuleConfiguration'

/** The Capsule Tenants that the platform renders on a cluster. */
export function capsuleTenants(index: FleetIndex, cluster: string): KubeObject[] {
  return index
    .renderedAnywhere(cluster, TENANT)
    .filter(({ node }) => node.tenant === undefined)
    .map(({ object }) => object)
}

/** Those of them that an identity owns, by its name or by a group of its namespace. */
export function tenantsOwnedBy(index: FleetIndex, cluster: string, identity: Identity): KubeObject[] {
  if (!identity.impersonated) return []
  const [, , namespace = ''] = identity.user.split(':')
  const names = new Set([`ServiceAccount ${identity.user}`, `Group system:serviceaccounts:${namespace}`])
  return capsuleTenants(index, cluster).filter(object => ownersOf(object).some(owner => names.has(nameOf(owner))))
}

/** Items of spec.owners, in their order. */
export function ownersOf(object: KubeObject): readonly Node[] {
  const list = at(object.root, ['spec', 'owners'])
  return list?.type === 'list' ? list.items : []
}

/** `<kind> <name>` of an owner or subject. */
export function nameOf(owner: Node): string {
  return `${stringAt(owner, ['kind']) ?? ''} ${stringAt(owner, ['name']) ?? ''}`
}

/** Names of Capsule Tenants. */
export function namesOf(tenants: readonly KubeObject[]): string[] {
  return tenants.map(object => idOf(object).name)
}
