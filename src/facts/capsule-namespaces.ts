import {
  CAPSULE_GROUP,
  capsuleReferenceOf,
  capsuleTenantOf,
  isEquippedByAddon,
  mayCreateNamespace,
  nameOfOwner,
  readCapsuleTenants,
} from '../fleet/tenancy/capsule.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import type { FleetAnswers } from './fleet-answers.ts'
import { isPlatform } from './object-index.ts'
import type { Rendered } from './object-table.ts'

const TENANT = `${CAPSULE_GROUP}/Tenant`

/** The Capsule Tenant of each namespace of a cluster that Capsule counts as one of it, as far as the fleet shows it. */
export function capsuleNamespaces(index: FleetAnswers, cluster: string): ReadonlyMap<string, KubeObject> {
  const tenants = index.platformAnywhere(cluster, TENANT).map(({ object }) => object)
  const found = new Map<string, KubeObject>()
  if (tenants.length === 0) return found
  const owners = index.platformAnywhere(cluster, `${CAPSULE_GROUP}/TenantOwner`).map(({ object }) => object)
  const read = readCapsuleTenants([...tenants, ...owners])
  const ownersOf = new Map(read.map(one => [one.name, new Set(one.owners.map(nameOfOwner))] as const))
  const byName = new Map(tenants.map(one => [idOf(one).name, one] as const))
  const homes = index.capsuleHomes(cluster)
  const ofUser = new Map<string, readonly KubeObject[]>()
  const ownedBy = ({ identity }: Rendered['node']) => {
    const known =
      ofUser.get(identity.user) ??
      tenants.filter(one => mayCreateNamespace(identity, 'any', ownersOf.get(idOf(one).name)!))
    ofUser.set(identity.user, known)
    return known
  }
  for (const one of index.renderedAnywhere(cluster, '/Namespace')) {
    const { name } = idOf(one.object)
    const label = capsuleTenantOf(one.object)
    const isHome = homes.has(name) && capsuleReferenceOf(one.object) === undefined
    // the label alone does not make a home, which the platform creates, a namespace of the Tenant
    const tenant = isPlatform(one)
      ? isHome
        ? undefined
        : byName.get(label ?? '')
      : chosen(ownedBy(one.node), name, label)
    if (tenant && !found.has(name)) found.set(name, tenant)
  }
  for (const [home, accounts] of homes) {
    const account = accounts.find(name => {
      const object = index.platformObject(cluster, '/ServiceAccount', home, name)
      return object && isEquippedByAddon(object)
    })
    const user = `ServiceAccount system:serviceaccount:${home}:${account}`
    const tenant = account && tenants.find(one => ownersOf.get(idOf(one).name)?.has(user))
    if (tenant) found.set(home, tenant)
  }
  return found
}

/** Which of its Tenants Capsule gives an owner's new namespace to: that of its label, the only one, or that of its prefix. */
function chosen(owned: readonly KubeObject[], namespace: string, label: string | undefined): KubeObject | undefined {
  if (label !== undefined) return owned.find(one => idOf(one).name === label)
  if (owned.length === 1) return owned[0]
  const fitting = owned.filter(one => namespace.startsWith(`${idOf(one).name}-`))
  return fitting.sort((a, b) => idOf(b).name.length - idOf(a).name.length)[0]
}
