import { BailiwickError } from '../../base/errors.ts'
import { codeWord, message, part } from '../../base/message.ts'
import { PLATFORM_SCALE, RenderBudget } from '../../flux/render-kustomization.ts'
import { ROOT_NAMESPACE, TENANT_LABEL_KEY } from '../../kube/flux-kinds.ts'
import { at, originAt, stringAt } from '../../kube/node.ts'
import { idOf, isNamespaceName, KUBERNETES_NAMESPACES, type KubeObject } from '../../kube/object.ts'
import { textMapOf } from '../../kube/read-fields.ts'
import type { Identity } from '../model/fleet.ts'
import type { FleetConfig } from '../model/fleet-config.ts'
import { CapsuleNames, capsuleTenantOf, mayCreateNamespace } from './capsule.ts'

/** Label by which `flux create tenant` marks the namespaces of a tenant. */
export const TENANT_LABEL = ['metadata', 'labels', TENANT_LABEL_KEY]
const LABEL_VALUE = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/

/** What the fleet's own file says about the namespaces of one cluster. */
export interface DeclaredTenancy {
  /** Tenants by the namespaces that the file gives them. */
  readonly owners: ReadonlyMap<string, string>
  /** Tenants that the file declares to be the platform, whatever gives them a namespace. */
  readonly platformTenants: ReadonlySet<string>
  /** The namespaces that the file gives to those. */
  readonly platformNamespaces: ReadonlySet<string>
}

const NOTHING_DECLARED: DeclaredTenancy = {
  owners: new Map(),
  platformTenants: new Set(),
  platformNamespaces: new Set(),
}

/**
 * What a Kustomization of the platform brings into a namespace of which no object says whose it is: the fleet's own
 * content, that of another repository as an account of the namespace, or that of another repository with the rights of
 * Flux's controller.
 */
export type Confinement = 'own' | 'confined' | 'unconfined'

/** The owners of the namespaces of one cluster, as far as the platform's objects have shown them yet. */
export class Tenancy {
  readonly owners = new Map<string, string>()
  /** Namespaces whose first use was decided before the platform labelled them otherwise. */
  readonly late = new Set<string>()
  readonly #declared = new Set<string>()
  readonly #labels = new Map<string, ReadonlyMap<string, string>>()
  /** Namespaces that were used before a label was seen. */
  readonly #unlabelled = new Set<string>()
  readonly #created = new Map<string, string>()
  readonly #contested = new Set<string>()
  /** Namespaces whose owner follows from a Capsule Tenant: a label of Flux may still say otherwise. */
  readonly #derived = new Set<string>()
  /** Namespaces with a Kustomization that was decided to act for their owner. */
  readonly #used = new Set<string>()
  readonly #configured: ReadonlySet<string>
  readonly #platformTenants: ReadonlySet<string>
  /** Namespaces that stay the platform's although something gives them to a tenant. */
  readonly #platform: Set<string>
  /** Namespaces in which the platform has an account act for another repository. */
  readonly #confined: Set<string>
  /** Namespaces in which another repository was decided to act as the platform. */
  readonly #unconfined = new Set<string>()
  /** Namespaces whose owner only an earlier state of the fleet tells. */
  readonly #lost = new Map<string, string>()
  readonly capsule = new CapsuleNames({
    // a namespace that was used before its owner was declared keeps the name that it got
    firmOwnerOf: namespace =>
      this.#isFirm(namespace) || this.#unlabelled.has(namespace) ? this.owners.get(namespace) : undefined,
    assign: (namespace, tenant) => this.#assign(namespace, tenant),
  })

  /**
   * `confined`: namespaces that are known to have an account for another repository, from an earlier walk; `lost`: tenants by
   * the namespaces that they had before the change, and that have no owner after it.
   */
  constructor(
    declared: DeclaredTenancy = NOTHING_DECLARED,
    confined: ReadonlySet<string> = new Set(),
    lost: ReadonlyMap<string, string> = new Map(),
  ) {
    this.#configured = new Set(declared.owners.keys())
    this.#platformTenants = declared.platformTenants
    this.#platform = new Set(declared.platformNamespaces)
    this.#confined = new Set(confined)
    for (const [namespace, tenant] of declared.owners) this.owners.set(namespace, tenant)
    for (const [namespace, tenant] of lost) {
      this.#lost.set(namespace, tenant)
      this.#keep(namespace, tenant)
    }
  }

  /** Takes note of a Namespace of the platform's last complete build: what is rendered now counts for more. */
  keepDeclared(object: KubeObject): void {
    const { name } = idOf(object)
    if (name === ROOT_NAMESPACE || !isNamespaceName(name)) return
    if (!this.#declared.has(name))
      this.#labels.set(name, textMapOf(at(object.root, ['metadata', 'labels'])) ?? new Map())
    this.#declared.add(name)
    const label = stringAt(object.root, TENANT_LABEL)
    const capsule = capsuleTenantOf(object)
    if (label && LABEL_VALUE.test(label)) this.#keep(name, label)
    else if (capsule !== undefined && !this.owners.has(name)) this.capsule.join(name, capsule)
  }

  /** Namespaces that only the fleet before the change gives to their tenant. */
  former(): ReadonlyMap<string, string> {
    return new Map([...this.#lost].filter(([namespace, tenant]) => this.owners.get(namespace) === tenant))
  }

  /** Namespaces that tenants made for themselves. */
  selfMade(): ReadonlySet<string> {
    return new Set([...this.#created.keys()].filter(namespace => this.owners.has(namespace)))
  }

  /** As of a Capsule Tenant: a label that is rendered now wins. */
  #keep(namespace: string, tenant: string): void {
    if (this.owners.has(namespace) || this.#platform.has(namespace) || this.#platformTenants.has(tenant)) return
    this.#derived.add(namespace)
    this.owners.set(namespace, tenant)
  }

  /** Adds a Namespace of the platform. Throws `invalid-object` for a bad label, `graph-conflict` for a second owner. */
  declare(object: KubeObject): void {
    const { name } = idOf(object)
    if (name === ROOT_NAMESPACE || !isNamespaceName(name)) return
    this.#declared.add(name)
    this.#labels.set(name, textMapOf(at(object.root, ['metadata', 'labels'])) ?? new Map())
    const label = at(object.root, TENANT_LABEL)
    const capsule = capsuleTenantOf(object)
    if (!label || (label.type === 'scalar' && (label.value === null || label.value === ''))) {
      if (capsule !== undefined) this.capsule.join(name, capsule)
      return
    }
    const tenant = stringAt(object.root, TENANT_LABEL)
    const origin = originAt(object.root, TENANT_LABEL)
    if (tenant === undefined || !LABEL_VALUE.test(tenant)) {
      throw new BailiwickError(
        'invalid-object',
        message`Namespace ${part('object', name)}: the value of the label toolkit.fluxcd.io/tenant is not a valid label value`,
        {
          origin,
          fix: 'Set the label to the name of the tenant.',
        },
      )
    }
    const known = this.owners.get(name)
    if (this.#platformTenants.has(tenant) && (known === undefined || !this.#isFirm(name))) {
      this.#keepForPlatform(name)
      return
    }
    if (known !== undefined && known !== tenant && this.#isFirm(name)) {
      const details = {
        origin,
        rule: 'namespace-ownership',
        fix: message`Set the label ${codeWord('toolkit.fluxcd.io/tenant')} of Namespace ${part('object', name)} to one of the two everywhere.`,
        identity: `Namespace ${name} is given to two tenants, ${JSON.stringify(known)} and ${JSON.stringify(tenant)}`,
      }
      throw new BailiwickError(
        'graph-conflict',
        message`Namespace ${part('object', name)}: labeled for two tenants, ${part('tenant', known, JSON.stringify(known))} and ${part('tenant', tenant, JSON.stringify(tenant))}. Allowed: one tenant`,
        details,
      )
    }
    for (const used of this.#unlabelled) {
      if (used === name || (used === tenant && this.owners.has(used))) this.late.add(used)
    }
    if (this.#derived.has(name) && this.#used.has(name) && known !== tenant) this.late.add(name)
    this.#created.delete(name)
    this.#derived.delete(name)
    this.owners.set(name, tenant)
    this.capsule.labelled(name, tenant, capsule)
    if (!this.#platform.delete(name)) return
    // of two statements the one that confines holds
    const details = {
      origin,
      rule: 'namespace-ownership',
      fix: message`Remove the label ${codeWord('toolkit.fluxcd.io/tenant')}, or remove ${part('object', name)} from the tenants with ${codeWord('platform: true')} in ${codeWord('.github/bailiwick.yaml')}.`,
      identity: `Namespace ${name}: its label gives it to tenant ${JSON.stringify(tenant)}, and .github/bailiwick.yaml to the platform`,
    }
    const text = message`Namespace ${part('object', name)}: labeled for tenant ${part('tenant', tenant, JSON.stringify(tenant))}, but ${codeWord('.github/bailiwick.yaml')} assigns it to the platform. Allowed: one of them`
    throw new BailiwickError('graph-conflict', text, details)
  }

  /** A Namespace that a tenant renders becomes theirs where Capsule lets them create it and no one else claims it. */
  create(object: KubeObject, tenant: string, identity: Identity, capsule: ReadonlySet<string>): void {
    const { name } = idOf(object)
    if (this.#declared.has(name) || !isNamespaceName(name) || !mayCreateNamespace(identity, name, capsule)) return
    const owner = this.owners.get(name)
    if (owner === undefined) {
      this.owners.set(name, tenant)
      this.#created.set(name, tenant)
    } else if (owner !== tenant) this.#contested.add(name)
  }

  /**
   * The tenant that a Kustomization in `namespace` acts for; undefined for the platform. Without a label, an account that
   * the platform has Flux impersonate there for another repository makes a tenant of the namespace's name: authors of
   * that repository are confined to what the account may do. Kubernetes' own namespaces never become a tenant.
   */
  decide(namespace: string, content: Confinement): string | undefined {
    if (namespace === ROOT_NAMESPACE) return undefined
    if (this.#platform.has(namespace)) {
      this.#unlabelled.add(namespace)
      return undefined
    }
    const known = this.owners.get(namespace)
    if (known !== undefined && !this.#unlabelled.has(namespace)) {
      this.#used.add(namespace)
      return known
    }
    this.#unlabelled.add(namespace)
    if (content === 'own' || KUBERNETES_NAMESPACES.includes(namespace)) return undefined
    if (content === 'confined') this.#confined.add(namespace)
    else this.#unconfined.add(namespace)
    if (!this.#confined.has(namespace)) return undefined
    const name = known ?? ([...this.owners.values()].includes(namespace) ? `namespace:${namespace}` : namespace)
    if (this.#platformTenants.has(name)) return undefined
    this.owners.set(namespace, name)
    return name
  }

  /**
   * Namespaces that turned out to have an account for another repository, where one of them was decided to act as the
   * platform before that was known; undefined where the order did not matter.
   */
  confinedLate(): ReadonlySet<string> | undefined {
    return [...this.#unconfined].some(namespace => this.#confined.has(namespace)) ? this.#confined : undefined
  }

  /** The labels of a namespace that the platform writes, and its name, which Kubernetes writes. */
  labelsOf(namespace: string): ReadonlyMap<string, string> {
    return new Map([...(this.#labels.get(namespace) ?? []), ['kubernetes.io/metadata.name', namespace]])
  }

  /** The tenant that the platform gave a namespace by its label. */
  givenTo(namespace: string): string | undefined {
    if (this.#unlabelled.has(namespace) || this.#created.has(namespace)) return undefined
    return this.owners.get(namespace)
  }

  /**
   * Ends the collecting: a namespace that two tenants claim belongs to no one, and one that only the fleet's own file names is
   * not on a cluster that shows nothing else of its tenant. `acting`: the tenants of whom the cluster has Kustomizations.
   */
  settle(acting: ReadonlySet<string>): void {
    for (const name of this.#contested) if (this.#created.has(name)) this.owners.delete(name)
    const shown = [...this.owners].filter(([name]) => !this.#configured.has(name) || this.#declared.has(name))
    const present = new Set([...acting, ...shown.map(([, tenant]) => tenant)])
    for (const name of this.#configured) {
      if (!this.#declared.has(name) && !present.has(this.owners.get(name)!)) this.owners.delete(name)
    }
  }

  /** What acted for a tenant there already makes the Namespace come too late, as a label would. */
  #keepForPlatform(namespace: string): void {
    this.#platform.add(namespace)
    if (!this.owners.has(namespace)) return
    this.late.add(namespace)
    this.owners.delete(namespace)
  }

  #isFirm(namespace: string): boolean {
    if (this.#created.has(namespace) || this.#unlabelled.has(namespace)) return false
    return this.owners.has(namespace) && !this.#derived.has(namespace)
  }

  /** What a Capsule Tenant says counts where no label of Flux and no file of the fleet says anything. */
  #assign(namespace: string, tenant: string): void {
    if (namespace === ROOT_NAMESPACE || !isNamespaceName(namespace) || this.#isFirm(namespace)) return
    if (this.#platform.has(namespace)) return
    if (this.#platformTenants.has(tenant)) {
      this.#keepForPlatform(namespace)
      return
    }
    const known = this.owners.get(namespace)
    if (this.#unlabelled.has(namespace) || (this.#used.has(namespace) && known !== tenant)) this.late.add(namespace)
    this.#created.delete(namespace)
    this.#derived.add(namespace)
    this.owners.set(namespace, tenant)
  }
}

/** Whether the platform's Namespace says whose it is, by the label of Flux or as a namespace of a Capsule Tenant. */
export function isLabelled(namespace: KubeObject): boolean {
  return Boolean(stringAt(namespace.root, TENANT_LABEL)) || capsuleTenantOf(namespace) !== undefined
}

/** What the fleet's own file says about the namespaces of a cluster. */
export function declaredIn({ tenants }: FleetConfig, cluster: string): DeclaredTenancy {
  const here = [...tenants.values()].filter(({ clusters }) => clusters === undefined || clusters.includes(cluster))
  const [platform, others] = [here.filter(one => one.platform), here.filter(one => !one.platform)]
  return {
    owners: new Map(others.flatMap(({ name, namespaces }) => namespaces.map(namespace => [namespace, name] as const))),
    platformTenants: new Set(platform.map(({ name }) => name)),
    platformNamespaces: new Set(platform.flatMap(({ namespaces }) => namespaces)),
  }
}

/**
 * What the nodes of one cluster may still use up: each tenant's share one budget, so that a thousand of them cost no more
 * than one; each of the platform's has its own.
 */
export class TenantBudgets {
  private readonly known = new Map<string, RenderBudget>()

  of(tenant: string | undefined): RenderBudget {
    if (tenant === undefined) return new RenderBudget(PLATFORM_SCALE)
    const budget = this.known.get(tenant) ?? new RenderBudget()
    this.known.set(tenant, budget)
    return budget
  }
}

/** The ClusterRole of a fleet that tenants have in their namespaces; it gathers those that carry the label. */
export const TENANT_ROLE = 'bailiwick-tenant'

/** The label by which platform teams add what tenants may do with the kinds of an operator. */
export const TENANT_ROLE_LABEL = 'bailiwick.dev/aggregate-to-tenant'
