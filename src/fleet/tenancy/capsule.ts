import { readLabelSelector, selects } from '../../kube/label-selector.ts'
import { at, isTrue, itemsOf, type MapNode, type Node, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { accountOf } from '../../kube/rbac/groups-of.ts'
import { textMapOf } from '../../kube/read-text.ts'
import type { Identity } from '../model/fleet.ts'

/** API group of Capsule. */
export const CAPSULE_GROUP = 'capsule.clastix.io'

/** The label by which Capsule marks the namespaces of a Tenant. */
export const CAPSULE_LABEL = 'capsule.clastix.io/tenant'
/** With its newer name. */
const CAPSULE_LABELS = [CAPSULE_LABEL, 'projectcapsule.dev/tenant']

/** Namespaces of Kubernetes itself: nobody's Capsule tenant gets them. */
const RESERVED = /^(kube-.*|default|flux-system|capsule-system)$/

const ACCOUNT = /^system:serviceaccount:([^:]+):[^:]+$/
const ACCOUNTS_OF = /^system:serviceaccounts:([^:]+)$/

/** Who owns a Capsule Tenant. An account is named by its full user name. */
interface CapsuleOwner {
  readonly kind: string
  readonly name: string
  /** Capsule accepts the owner without an entry in the CapsuleConfiguration (TenantOwner, `spec.aggregate`). */
  readonly isAggregated?: true
}

export interface CapsuleTenant {
  readonly name: string
  readonly owners: readonly CapsuleOwner[]
}

/** The Capsule Tenants of the platform's objects, of any version, by name. TenantOwner objects that they select are owners too. */
export function readCapsuleTenants(objects: Iterable<KubeObject>): CapsuleTenant[] {
  const all = [...objects].filter(object => groupOf(idOf(object).apiVersion) === CAPSULE_GROUP)
  const others = all.filter(object => idOf(object).kind === 'TenantOwner')
  return all
    .filter(object => idOf(object).kind === 'Tenant' && idOf(object).name !== '')
    .map(object => ({ name: idOf(object).name, owners: ownersOf(object.root, others) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** `spec.owners` (v1beta1 and later) and `spec.owner` (v1alpha1). */
export function writtenOwners(root: MapNode): readonly Node[] {
  const single = at(root, ['spec', 'owner'])
  return [...itemsAt(root, ['spec', 'owners']), ...(single ? [single] : [])]
}

/** The TenantOwners that `spec.permissions.matchOwners` of a Tenant selects. */
export function selectedOwners(root: MapNode, others: readonly KubeObject[]): readonly KubeObject[] {
  const selectors = itemsAt(root, ['spec', 'permissions', 'matchOwners']).map(readLabelSelector)
  return others.filter(({ root: other }) => {
    const labels = textMapOf(at(other, ['metadata', 'labels'])) ?? new Map<string, string>()
    return selectors.some(selector => selector !== undefined && selects(selector, labels))
  })
}

function ownersOf(root: MapNode, others: readonly KubeObject[]): CapsuleOwner[] {
  const named = (owner: Node, more: Pick<CapsuleOwner, 'isAggregated'>): CapsuleOwner[] => {
    const name = stringAt(owner, ['name'])
    const kind = stringAt(owner, ['kind']) ?? ''
    // Capsule compares the names of both kinds with that of the user
    return name ? [{ kind: kind === 'User' && accountOf(name) ? 'ServiceAccount' : kind, name, ...more }] : []
  }
  const byLabel = selectedOwners(root, others).flatMap(({ root: other }) => {
    const spec = at(other, ['spec'])
    const aggregate = spec && at(spec, ['aggregate'])
    // later versions set false by default; versions without the field accept only users in the CapsuleConfiguration
    const isOn = isTrue(aggregate)
    return spec ? named(spec, isOn ? { isAggregated: true } : {}) : []
  })
  return [...writtenOwners(root).flatMap(owner => named(owner, {})), ...byLabel]
}

function itemsAt(root: MapNode, path: readonly string[]): readonly Node[] {
  return itemsOf(at(root, path))
}

/** The namespaces in which the accounts live that own a Tenant; those of Kubernetes itself are nobody's home. */
export function homesOf({ owners }: CapsuleTenant): string[] {
  const homes = owners.flatMap(({ kind, name }) => {
    const home = (kind === 'Group' ? ACCOUNTS_OF : ACCOUNT).exec(name)?.[1]
    return home === undefined || RESERVED.test(home) ? [] : [home]
  })
  return [...new Set(homes)]
}

/** The Capsule Tenant that a Namespace says it belongs to, by its label or its ownerReference; undefined for none. */
export function capsuleTenantOf(namespace: KubeObject): string | undefined {
  return capsuleLabelOf(namespace) ?? capsuleReferenceOf(namespace)
}

/** The Capsule Tenant of the label of a Namespace: Capsule assigns by it what an owner or an administrator creates. */
export function capsuleLabelOf(namespace: KubeObject): string | undefined {
  return CAPSULE_LABELS.map(label => stringAt(namespace.root, ['metadata', 'labels', label])).find(Boolean)
}

/** The Capsule Tenant of the ownerReference of a Namespace, by which alone Capsule counts it as one of the Tenant's. */
export function capsuleReferenceOf(namespace: KubeObject): string | undefined {
  const owner = itemsAt(namespace.root, ['metadata', 'ownerReferences']).find(reference => {
    const group = groupOf(stringAt(reference, ['apiVersion']) ?? '')
    return group === CAPSULE_GROUP && stringAt(reference, ['kind']) === 'Tenant'
  })
  return stringAt(owner, ['name']) || undefined
}

const ADDON = ['metadata', 'annotations', 'capsule.addon.fluxcd/enabled']

/** Whether the platform asks capsule-addon-fluxcd for the rights, token and kubeconfig of an account that owns a Tenant. */
export const isEquippedByAddon = (account: KubeObject): boolean => stringAt(account.root, ADDON) === 'true'

/** The accounts and groups that own a Capsule Tenant, as `<kind> <name>`; only the platform's objects may be asked. */
export function capsuleOwners(objects: Iterable<KubeObject>): Set<string> {
  return new Set(readCapsuleTenants(objects).flatMap(tenant => tenant.owners.map(nameOfOwner)))
}

/** `<kind> <name>`. */
export const nameOfOwner = ({ kind, name }: CapsuleOwner): string => `${kind} ${name}`

/**
 * Whether Capsule lets an identity create a namespace for its own tenant (namespaces as a service). Source: IsOwner of
 * Capsule compares owners of kind User and ServiceAccount with the full user name, those of kind Group with its groups.
 */
export function mayCreateNamespace(
  identity: Identity,
  name: string,
  owners: Pick<ReadonlySet<string>, 'has'>,
): boolean {
  if (!identity.impersonated || RESERVED.test(name)) return false
  const group = identity.user.split(':').slice(2, 3).join('')
  return (
    owners.has(`ServiceAccount ${identity.user}`) ||
    owners.has(`User ${identity.user}`) ||
    owners.has(`Group system:serviceaccounts:${group}`)
  )
}
