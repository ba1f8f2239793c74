import { BailiwickError } from '../errors.ts'
import { isNamespaceName } from '../kube/names.ts'
import { at, originAt, stringAt } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import { textMapOf } from '../kube/read-text.ts'
import { capsuleTenantOf, mayCreateNamespace } from './capsule.ts'
import { CapsuleNames } from './capsule-names.ts'
import { ROOT_NAMESPACE } from './cluster-root.ts'
import type { Identity } from './fleet.ts'

/** Label by which `flux create tenant` marks the namespaces of a tenant. */
export const TENANT_LABEL = ['metadata', 'labels', 'toolkit.fluxcd.io/tenant']
const LABEL_VALUE = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/

/** Whose a namespace of one cluster is, as far as the platform's objects have said so yet. */
export class Tenancy {
  readonly owners = new Map<string, string>()
  /** Namespaces whose first use was decided before the platform labelled them otherwise. */
  readonly late = new Set<string>()
  readonly #declared = new Set<string>()
  readonly #labels = new Map<string, ReadonlyMap<string, string>>()
  /** Namespaces that were used before anybody labelled them. */
  readonly #unlabelled = new Set<string>()
  readonly #created = new Map<string, string>()
  readonly #contested = new Set<string>()
  /** Namespaces whose owner follows from a Capsule Tenant: a label of Flux may still say otherwise. */
  readonly #derived = new Set<string>()
  /** Namespaces of whom a Kustomization was decided to act for their owner. */
  readonly #used = new Set<string>()
  readonly #configured: ReadonlySet<string>
  readonly capsule = new CapsuleNames({
    // one that somebody used before anybody said whose it is keeps the name that it got
    firmOwnerOf: namespace =>
      this.#isFirm(namespace) || this.#unlabelled.has(namespace) ? this.owners.get(namespace) : undefined,
    assign: (namespace, tenant) => this.#assign(namespace, tenant),
  })

  /** `configured`: tenants by the namespaces that the fleet's own file gives them. */
  constructor(configured: ReadonlyMap<string, string> = new Map()) {
    this.#configured = new Set(configured.keys())
    for (const [namespace, tenant] of configured) this.owners.set(namespace, tenant)
  }

  /** Takes note of a Namespace that the platform renders. Throws `invalid-object` for a label that is none, `graph-conflict` for a second owner. */
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
      throw new BailiwickError('invalid-object', 'the tenant label of the Namespace is not a label value', {
        origin,
        fix: 'Name the tenant in plain text.',
      })
    }
    const known = this.owners.get(name)
    if (known !== undefined && known !== tenant && this.#isFirm(name)) {
      const details = { origin, rule: 'namespace-ownership', fix: 'Give the namespace to one tenant.' }
      throw new BailiwickError(
        'graph-conflict',
        `Namespace ${name} is given to two tenants, ${JSON.stringify(known)} and ${JSON.stringify(tenant)}`,
        details,
      )
    }
    for (const used of this.#unlabelled) if (used === name || used === tenant) this.late.add(used)
    if (this.#derived.has(name) && this.#used.has(name) && known !== tenant) this.late.add(name)
    this.#created.delete(name)
    this.#derived.delete(name)
    this.owners.set(name, tenant)
    this.capsule.labelled(name, tenant, capsule)
  }

  /** A Namespace that a tenant renders becomes theirs where Capsule lets them create it and nobody else claims it. */
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
   * The tenant that a Kustomization in `namespace` acts for; undefined for the platform. Without a label, one that
   * follows another repository than the fleet acts for a tenant of the namespace's name.
   */
  decide(namespace: string, ownContent: boolean): string | undefined {
    if (namespace === ROOT_NAMESPACE) return undefined
    const known = this.owners.get(namespace)
    if (known !== undefined && !this.#unlabelled.has(namespace)) {
      this.#used.add(namespace)
      return known
    }
    this.#unlabelled.add(namespace)
    if (ownContent) return undefined
    const name = known ?? ([...this.owners.values()].includes(namespace) ? `namespace:${namespace}` : namespace)
    this.owners.set(namespace, name)
    return name
  }

  /** The labels of a namespace that the platform writes, and its name, which Kubernetes writes. */
  labelsOf(namespace: string): ReadonlyMap<string, string> {
    return new Map([...(this.#labels.get(namespace) ?? []), ['kubernetes.io/metadata.name', namespace]])
  }

  /** The tenant to whom the platform gave a namespace by its label. */
  givenTo(namespace: string): string | undefined {
    if (this.#unlabelled.has(namespace) || this.#created.has(namespace)) return undefined
    return this.owners.get(namespace)
  }

  /**
   * Ends the collecting: a namespace that two tenants claim is nobody's, and one that only the fleet's own file names is
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

  #isFirm(namespace: string): boolean {
    if (this.#created.has(namespace) || this.#unlabelled.has(namespace)) return false
    return this.owners.has(namespace) && !this.#derived.has(namespace)
  }

  /** What a Capsule Tenant says counts where no label of Flux and no file of the fleet says anything. */
  #assign(namespace: string, tenant: string): void {
    if (namespace === ROOT_NAMESPACE || !isNamespaceName(namespace) || this.#isFirm(namespace)) return
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
