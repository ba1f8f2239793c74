import { type CapsuleTenant, homesOf } from './capsule.ts'

/** Who learns what a Capsule Tenant and its namespaces are called. */
export interface NameKeeper {
  /** The tenant that a namespace belongs to so far. */
  ownerOf(namespace: string): string | undefined
  /** A namespace belongs to a tenant because a Capsule Tenant says so. */
  assign(namespace: string, tenant: string): void
}

/**
 * How the Capsule Tenants of a cluster are called. The namespace in which a Tenant's owner has its account is not the
 * Tenant's for Capsule, but whoever acts from there acts for it: both have one name, that of the Flux label where the
 * home has one, else that of the Tenant.
 */
export class CapsuleNames {
  readonly #keeper: NameKeeper
  /** Capsule Tenants by the namespaces where accounts live that own them. */
  readonly #homes = new Map<string, string[]>()
  readonly #names = new Map<string, string>()
  /** Namespaces by the Capsule Tenant that they say they belong to. */
  readonly #members = new Map<string, Set<string>>()
  readonly #owners = new Map<string, Set<string>>()

  constructor(keeper: NameKeeper) {
    this.#keeper = keeper
  }

  nameOf(tenant: string): string {
    return this.#names.get(tenant) ?? tenant
  }

  /** Whether an account of the namespace owns a Capsule Tenant. */
  isHome(namespace: string): boolean {
    return this.#homes.has(namespace)
  }

  /** Users and groups that own Capsule Tenants, by the name of the tenant. */
  owners(): ReadonlyMap<string, ReadonlySet<string>> {
    const found = new Map<string, Set<string>>()
    for (const [tenant, names] of this.#owners) {
      const name = this.nameOf(tenant)
      found.set(name, new Set([...(found.get(name) ?? []), ...names]))
    }
    return found
  }

  /** Takes note of Tenants that the platform renders. */
  add(tenants: readonly CapsuleTenant[]): void {
    for (const tenant of tenants) {
      const { name } = tenant
      this.#owners.set(name, new Set(tenant.owners.map(owner => owner.name)))
      for (const home of homesOf(tenant)) {
        this.#homes.set(home, [...(this.#homes.get(home) ?? []), name])
        this.#meet(home, name)
      }
    }
  }

  /** A Namespace says that it belongs to a Capsule Tenant. */
  join(namespace: string, tenant: string): void {
    this.#members.set(tenant, (this.#members.get(tenant) ?? new Set()).add(namespace))
    this.#keeper.assign(namespace, this.nameOf(tenant))
  }

  /** The platform gave a namespace to a tenant by the label of Flux. */
  labelled(namespace: string, name: string, capsule: string | undefined): void {
    if (capsule !== undefined) this.#call(capsule, name)
    for (const tenant of this.#homes.get(namespace) ?? []) this.#call(tenant, name)
  }

  /** A home and its Tenant get one name; of several Tenants with one home the first one gives it. */
  #meet(home: string, tenant: string): void {
    const given = this.#keeper.ownerOf(home)
    if (given === undefined) this.join(home, tenant)
    else this.#call(tenant, given)
  }

  #call(tenant: string, name: string): void {
    if (this.#names.has(tenant) || name === tenant) return
    this.#names.set(tenant, name)
    for (const namespace of this.#members.get(tenant) ?? []) this.#keeper.assign(namespace, name)
  }
}
