import { type CapsuleTenant, homesOf } from './capsule.ts'

/** Who learns what a Capsule Tenant and its namespaces are called. */
interface NameKeeper {
  /** The tenant that a namespace has whatever Capsule says. */
  firmOwnerOf(namespace: string): string | undefined
  /** A namespace belongs to a tenant because a Capsule Tenant says so. */
  assign(namespace: string, tenant: string): void
}

/**
 * How the Capsule Tenants of a cluster are called. The namespace in which a Tenant's owner has its account is not the
 * Tenant's for Capsule, but whoever acts from there acts for it: both have one name, that of the Flux label where the
 * home has one, else that of the Tenant. Where homes of one Tenant have several names, as when someone is made an owner
 * of another one's Tenant, the Tenant keeps its own.
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
