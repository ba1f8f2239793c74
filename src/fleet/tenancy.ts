import { BailiwickError } from '../errors.ts'
import { isNamespaceName } from '../kube/names.ts'
import { at, originAt, stringAt } from '../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../kube/object.ts'
import { mayCreateNamespace } from './capsule.ts'
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
  /** Namespaces that were used before anybody labelled them. */
  readonly #unlabelled = new Set<string>()
  readonly #created = new Map<string, string>()
  readonly #contested = new Set<string>()

  /** Takes note of a Namespace that the platform renders. Throws `invalid-object` for a label that is none, `graph-conflict` for a second owner. */
  declare(object: KubeObject): void {
    const { name } = idOf(object)
    if (name === ROOT_NAMESPACE || !isNamespaceName(name)) return
    this.#declared.add(name)
    const label = at(object.root, TENANT_LABEL)
    if (!label || (label.type === 'scalar' && (label.value === null || label.value === ''))) return
    const tenant = stringAt(object.root, TENANT_LABEL)
    const origin = originAt(object.root, TENANT_LABEL)
    if (tenant === undefined || !LABEL_VALUE.test(tenant)) {
      throw new BailiwickError('invalid-object', 'the tenant label of the Namespace is not a label value', {
        origin,
        fix: 'Name the tenant in plain text.',
      })
    }
    const known = this.owners.get(name)
    const firm = known !== undefined && !this.#created.has(name) && !this.#unlabelled.has(name)
    if (firm && known !== tenant) {
      const details = { origin, rule: 'namespace-ownership', fix: 'Give the namespace to one tenant.' }
      throw new BailiwickError('graph-conflict', `Namespace ${name} is given to two tenants`, details)
    }
    for (const used of this.#unlabelled) if (used === name || used === tenant) this.late.add(used)
    this.#created.delete(name)
    this.owners.set(name, tenant)
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
    if (known !== undefined && !this.#unlabelled.has(namespace)) return known
    this.#unlabelled.add(namespace)
    if (ownContent) return undefined
    const name = known ?? ([...this.owners.values()].includes(namespace) ? `namespace:${namespace}` : namespace)
    this.owners.set(namespace, name)
    return name
  }

  /** The tenant to whom the platform gave a namespace by its label. */
  givenTo(namespace: string): string | undefined {
    if (this.#unlabelled.has(namespace) || this.#created.has(namespace)) return undefined
    return this.owners.get(namespace)
  }

  /** Ends the collecting: a namespace that two tenants claim is nobody's. */
  settle(): void {
    for (const name of this.#contested) if (this.#created.has(name)) this.owners.delete(name)
  }
}

/** Whether an object is a Namespace. */
export function isNamespace(object: KubeObject): boolean {
  const { apiVersion, kind } = idOf(object)
  return kind === 'Namespace' && groupOf(apiVersion) === ''
}
