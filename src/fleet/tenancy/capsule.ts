import { at, isTrue, itemsOf, type MapNode, type Node, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { RBAC_GROUP } from '../../kube/rbac/binding.ts'
import { accountOf } from '../../kube/rbac/policy-rule.ts'
import { readLabelSelector, selects, textMapOf, textsOf } from '../../kube/read-fields.ts'
import type { Identity } from '../model/fleet.ts'
import { nodeOf } from '../model/kustomization-spec.ts'

/** API group of Capsule. */
export const CAPSULE_GROUP = 'capsule.clastix.io'

/** The label by which Capsule marks the namespaces of a Tenant. */
export const CAPSULE_LABEL = 'capsule.clastix.io/tenant'
/** With its newer name. */
const CAPSULE_LABELS = [CAPSULE_LABEL, 'projectcapsule.dev/tenant']

/** Namespaces of Kubernetes itself: no Capsule Tenant gets them. */
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
function selectedOwners(root: MapNode, others: readonly KubeObject[]): readonly KubeObject[] {
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

/** The namespaces in which the accounts live that own a Tenant; without those of Kubernetes itself. */
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

/** Who learns what a Capsule Tenant and its namespaces are called. */
interface NameKeeper {
  /** The tenant that a namespace has whatever Capsule says. */
  firmOwnerOf(namespace: string): string | undefined
  /** A namespace belongs to a tenant because a Capsule Tenant says so. */
  assign(namespace: string, tenant: string): void
}

/**
 * How the Capsule Tenants of a cluster are called. The namespace in which a Tenant's owner has its account is not the
 * Tenant's for Capsule, but accounts in it act for the Tenant: both have one name, that of the Flux label where the
 * home has one, else that of the Tenant. Where homes of one Tenant have several names, as when an account of one
 * owns the other's Tenant, the Tenant keeps its own.
 */
export class CapsuleNames {
  readonly #keeper: NameKeeper
  readonly #tenants = new Map<string, { readonly owners: ReadonlySet<string>; readonly homes: readonly string[] }>()
  /** Capsule Tenants by the namespaces where accounts live that own them. */
  readonly #homes = new Map<string, Set<string>>()
  readonly #names = new Map<string, string>()
  /** Names of Namespaces' labels of Flux beside their label of Capsule. */
  readonly #pairs = new Map<string, Set<string>>()
  /** Namespaces by the Capsule Tenant that they belong to. */
  readonly #members = new Map<string, Set<string>>()

  constructor(keeper: NameKeeper) {
    this.#keeper = keeper
  }

  /** Users and groups that own Capsule Tenants, by the name of the tenant. */
  owners(): ReadonlyMap<string, ReadonlySet<string>> {
    const found = new Map<string, Set<string>>()
    for (const [tenant, { owners }] of this.#tenants) {
      const name = this.#nameOf(tenant)
      found.set(name, new Set([...(found.get(name) ?? []), ...owners]))
    }
    return found
  }

  /** Takes note of Tenants that the platform renders. */
  add(tenants: readonly CapsuleTenant[]): void {
    for (const tenant of tenants) {
      const homes = homesOf(tenant)
      this.#tenants.set(tenant.name, { owners: new Set(tenant.owners.map(owner => owner.name)), homes })
      for (const home of homes) into(this.#homes, home, tenant.name)
    }
    this.#settle(new Set(tenants.flatMap(({ name }) => [name, ...this.#neighbours(name)])))
  }

  /** A Namespace says that it belongs to a Capsule Tenant. */
  join(namespace: string, tenant: string): void {
    into(this.#members, tenant, namespace)
    this.#keeper.assign(namespace, this.#nameOf(tenant))
  }

  /** The platform gave a namespace to a tenant by the label of Flux. */
  labelled(namespace: string, name: string, capsule: string | undefined): void {
    if (capsule !== undefined) into(this.#pairs, capsule, name)
    this.#settle(new Set([...(capsule === undefined ? [] : [capsule]), ...(this.#homes.get(namespace) ?? [])]))
  }

  #settle(tenants: ReadonlySet<string>): void {
    for (const tenant of tenants) {
      const name = this.#decide(tenant)
      if (name !== this.#nameOf(tenant)) {
        this.#names.set(tenant, name)
        for (const namespace of this.#members.get(tenant) ?? []) this.#keeper.assign(namespace, name)
      }
    }
    for (const tenant of tenants) {
      for (const home of this.#tenants.get(tenant)?.homes ?? []) {
        if (this.#keeper.firmOwnerOf(home) === undefined) this.#keeper.assign(home, this.#nameOf(this.#holderOf(home)))
      }
    }
  }

  #decide(tenant: string): string {
    const homes = this.#tenants.get(tenant)?.homes ?? []
    const names = new Set([
      ...(this.#pairs.get(tenant) ?? []),
      ...homes.map(home => this.#keeper.firmOwnerOf(home) ?? this.#holderOf(home)),
    ])
    const [first] = names
    return names.size === 1 && first !== undefined ? first : tenant
  }

  /** Of several Tenants with one home the one that has no other gives the name, then the first one. */
  #holderOf(home: string): string {
    const tenants = [...(this.#homes.get(home) ?? [])].sort()
    return tenants.find(tenant => this.#tenants.get(tenant)?.homes.length === 1) ?? tenants[0] ?? home
  }

  #neighbours(tenant: string): string[] {
    return (this.#tenants.get(tenant)?.homes ?? []).flatMap(home => [...(this.#homes.get(home) ?? [])])
  }

  #nameOf(tenant: string): string {
    return this.#names.get(tenant) ?? tenant
  }
}

function into(map: Map<string, Set<string>>, key: string, value: string): void {
  const set = map.get(key)
  if (set) set.add(value)
  else map.set(key, new Set([value]))
}

/** What Capsule binds an owner to where the Tenant does not say (api/v1beta2, owner.go). */
const OWNER_ROLES = ['admin', 'capsule-namespace-deleter']

type Subject = {
  readonly apiGroup?: string
  readonly kind: string
  readonly name: string
  readonly namespace: string
}

/**
 * The RoleBindings that Capsule makes of Tenants: their owners' and the additional ones, in each namespace that has the Tenant's
 * ownerReference. `objects`: of Capsule's kinds; `members`: namespaces by Tenant; `version`: as capsuleVersion gives it;
 * `administrators`: who owns each Tenant by Capsule's configuration.
 */
export function capsuleBindings(
  objects: readonly KubeObject[],
  members: ReadonlyMap<string, Iterable<string>>,
  version: number | undefined,
  administrators: readonly CapsuleOwnerRoles[] = [],
): KubeObject[] {
  const all = objects.filter(object => groupOf(idOf(object).apiVersion) === CAPSULE_GROUP)
  const others = all.filter(object => idOf(object).kind === 'TenantOwner')
  return all.flatMap(tenant => {
    const { kind, name } = idOf(tenant)
    if (kind !== 'Tenant') return []
    const owners = [...bindingOwnersOf(tenant, others), ...administrators]
    const grants = [
      ...ownerGrants(version === undefined || version < 12 ? owners : merged(owners)),
      ...additionalGrants(tenant),
    ]
    return [...(members.get(name) ?? [])].flatMap(namespace =>
      grants.map((grant, index) => {
        const named =
          version === undefined || version < 13 ? `capsule-${name}-${index}-${grant.role}` : managed(grant, version)
        return binding(tenant, namespace, named, grant)
      }),
    )
  })
}

interface CapsuleGrant {
  readonly role: string
  readonly subjects: readonly Subject[]
}

/** An owner with the ClusterRoles that it has in the namespaces of a Tenant. */
interface CapsuleOwnerRoles {
  readonly kind: string
  readonly name: string
  readonly roles: readonly string[]
}

function bindingOwnersOf(tenant: KubeObject, others: readonly KubeObject[]): CapsuleOwnerRoles[] {
  const selected = selectedOwners(tenant.root, others).flatMap(({ root }) => at(root, ['spec']) ?? [])
  return [...writtenOwners(tenant.root), ...selected].map(owner => {
    const written = textsOf(at(owner, ['clusterRoles'])) ?? []
    const [kind, name] = [stringAt(owner, ['kind']) ?? '', stringAt(owner, ['name']) ?? '']
    return { kind, name, roles: written.length > 0 ? written : OWNER_ROLES }
  })
}

/** From 0.12 on: each once, with the roles of all of its entries, by kind and name. */
function merged(owners: readonly CapsuleOwnerRoles[]): CapsuleOwnerRoles[] {
  const keyOf = ({ kind, name }: CapsuleOwnerRoles) => `${kind} ${name}`
  const all = [...Map.groupBy(owners, keyOf)].sort(([a], [b]) => (a < b ? -1 : 1))
  return all.map(([, same]) => ({ ...same[0]!, roles: [...new Set(same.flatMap(({ roles }) => roles))] }))
}

function ownerGrants(owners: readonly CapsuleOwnerRoles[]): CapsuleGrant[] {
  return owners.flatMap(({ kind, name, roles }) => {
    const subject = { apiGroup: RBAC_GROUP, kind, name, namespace: '' }
    const account = kind === 'Group' ? undefined : accountOf(name)
    const subjects = [account ? { kind: 'ServiceAccount', ...account } : subject]
    return roles.map(role => ({ role, subjects }))
  })
}

/** `spec.additionalRoleBindings` and those of `spec.rules`, which may apply to some of the namespaces only. */
function additionalGrants(tenant: KubeObject): CapsuleGrant[] {
  const ofRules = items(tenant, 'rules').flatMap(rule => {
    return itemsOf(at(rule, ['permissions', 'bindings']))
  })
  return [...items(tenant, 'additionalRoleBindings'), ...ofRules].flatMap(entry => {
    const role = stringAt(entry, ['clusterRoleName'])
    const subjects = itemsOf(at(entry, ['subjects'])).map(one => ({
      apiGroup: stringAt(one, ['apiGroup']) ?? '',
      kind: stringAt(one, ['kind']) ?? '',
      name: stringAt(one, ['name']) ?? '',
      namespace: stringAt(one, ['namespace']) ?? '',
    }))
    return role ? [{ role, subjects }] : []
  })
}

function items(tenant: KubeObject, field: string) {
  return itemsOf(at(tenant.root, ['spec', field]))
}

/** The name of a RoleBinding from 0.13 on: a hash (FNV-1a), from 0.14 on of each text behind its length. */
function managed({ role, subjects }: CapsuleGrant, version: number): string {
  const lengths = version >= 14
  const texts = subjects.flatMap(({ apiGroup = '', kind, namespace, name }) =>
    lengths ? [apiGroup, kind, namespace, name] : [kind, name],
  )
  let hash = 0xcbf29ce484222325n
  for (const text of [role, ...texts]) {
    const bytes = Buffer.from(text)
    const length = Buffer.alloc(lengths ? 8 : 0)
    if (lengths) length.writeBigUInt64LE(BigInt(bytes.length))
    for (const byte of [...length, ...bytes]) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  }
  return `capsule:managed:${hash.toString(16)}`
}

function binding(tenant: KubeObject, namespace: string, name: string, { role, subjects }: CapsuleGrant): KubeObject {
  const plain = {
    apiVersion: `${RBAC_GROUP}/v1`,
    kind: 'RoleBinding',
    metadata: { name, namespace },
    roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name: role },
    subjects: subjects.map(subject => (subject.namespace ? subject : { kind: subject.kind, name: subject.name })),
  }
  return { root: nodeOf(plain, tenant.root.origin) as MapNode, trail: tenant.trail }
}
