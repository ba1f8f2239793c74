import { at, stringAt } from '../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../kube/object.ts'
import type { Identity } from './fleet.ts'

/** Namespaces of Kubernetes itself: nobody's Capsule tenant gets them. */
const RESERVED = /^(kube-.*|default|flux-system|capsule-system)$/

/** The accounts and groups that own a Capsule Tenant; only the platform's objects may be asked. */
export function capsuleOwners(objects: Iterable<KubeObject>): Set<string> {
  const owners = new Set<string>()
  for (const object of objects) {
    const { apiVersion, kind } = idOf(object)
    if (kind !== 'Tenant' || groupOf(apiVersion) !== 'capsule.clastix.io') continue
    const list = at(object.root, ['spec', 'owners'])
    for (const owner of list?.type === 'list' ? list.items : []) {
      const name = stringAt(owner, ['name'])
      if (name) owners.add(`${stringAt(owner, ['kind'])} ${name}`)
    }
  }
  return owners
}

/**
 * Whether Capsule lets an identity create a namespace for its own tenant (namespaces as a service). Source: Capsule's
 * owners of kind ServiceAccount are named by their full user name, groups by `system:serviceaccounts:<namespace>`.
 */
export function mayCreateNamespace(identity: Identity, name: string, owners: ReadonlySet<string>): boolean {
  if (!identity.impersonated || RESERVED.test(name)) return false
  const group = identity.user.split(':').slice(2, 3).join('')
  return owners.has(`ServiceAccount ${identity.user}`) || owners.has(`Group system:serviceaccounts:${group}`)
}
