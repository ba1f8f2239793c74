import { capsuleOwners } from '../fleet/capsule.ts'
import type { Cluster, Fleet, FleetNode } from '../fleet/fleet.ts'
import { nodeKey } from '../fleet/node-key.ts'
import { TENANT_LABEL } from '../fleet/tenancy.ts'
import { stringAt } from '../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../kube/object.ts'
import { type CustomScopes, customScopes, type Scope, scopeOf } from '../kube/scope.ts'
import { ObjectTable, type Rendered } from './object-table.ts'
import { repositoryAuthors } from './repository-authors.ts'

/** Answers that rules need again and again, worked out once per fleet. Kinds are `<group>/<Kind>`. */
export class FleetIndex {
  readonly #fleet: Fleet
  readonly #clusters: Map<string, Cluster>
  readonly #nodes: Map<string, FleetNode>
  readonly #tables = new Map<string, ObjectTable>()
  readonly #scopes = new Map<string, CustomScopes>()
  readonly #capsule = new Map<string, ReadonlySet<string>>()
  #authors: ReadonlyMap<string, string> | undefined

  constructor(fleet: Fleet) {
    this.#fleet = fleet
    this.#clusters = new Map(fleet.clusters.map(cluster => [cluster.name, cluster]))
    this.#nodes = new Map(fleet.nodes.map(node => [node.key, node]))
  }

  node(key: string | undefined): FleetNode | undefined {
    return key === undefined ? undefined : this.#nodes.get(key)
  }

  cluster(name: string): Cluster | undefined {
    return this.#clusters.get(name)
  }

  /** Names of the clusters, sorted. */
  clusters(): string[] {
    return [...this.#clusters.keys()].sort()
  }

  /** Objects of a kind in a namespace of a cluster, whoever renders them, in the order of the nodes; '' for none. */
  rendered(cluster: string, kind: string, namespace: string): readonly Rendered[] {
    return this.#table(cluster).inNamespace(kind, namespace)
  }

  /** Objects of a kind in any namespace of a cluster: ask for one namespace where that is enough. */
  renderedAnywhere(cluster: string, kind: string): readonly Rendered[] {
    return this.#table(cluster).ofKind(kind)
  }

  /** Every node's version of one object. */
  versionsOf(cluster: string, kind: string, namespace: string, name: string): readonly Rendered[] {
    return this.#table(cluster).named(kind, namespace, name)
  }

  /** The tenant that a namespace belongs to; undefined for the platform's. */
  ownerOf(cluster: string, namespace: string): string | undefined {
    return this.#clusters.get(cluster)?.owners?.get(namespace)
  }

  /** The tenant to whom the platform gave a namespace by its label; undefined where it only follows from a source. */
  givenTo(cluster: string, namespace: string): string | undefined {
    return stringAt(this.platformObject(cluster, '/Namespace', '', namespace)?.root, TENANT_LABEL) || undefined
  }

  /** Whether a namespace is one of the tenant's own. Compared exactly. */
  owns(cluster: string, tenant: string, namespace: string): boolean {
    return namespace !== '' && this.ownerOf(cluster, namespace) === tenant
  }

  /** Namespaces of a tenant on a cluster, sorted. */
  namespacesOf(cluster: string, tenant: string): string[] {
    const owners = [...(this.#clusters.get(cluster)?.owners ?? [])]
    return owners.flatMap(([namespace, owner]) => (owner === tenant ? [namespace] : [])).sort()
  }

  /** Whether objects of a kind live in namespaces; only the platform may define kinds: a tenant's own word would free it. */
  scopeOf(cluster: string, apiVersion: string, kind: string): Scope | undefined {
    let scopes = this.#scopes.get(cluster)
    if (!scopes) {
      const definitions = this.renderedAnywhere(cluster, 'apiextensions.k8s.io/CustomResourceDefinition')
      scopes = customScopes(definitions.filter(isPlatform).map(({ object }) => object))
      this.#scopes.set(cluster, scopes)
    }
    return scopeOf(apiVersion, kind, scopes)
  }

  /** The object as the platform renders it on a cluster, the last one where there are several. */
  platformObject(cluster: string, kind: string, namespace: string, name: string): KubeObject | undefined {
    return this.versionsOf(cluster, kind, namespace, name).findLast(isPlatform)?.object
  }

  /** Who owns a Capsule Tenant on a cluster. */
  capsuleOwners(cluster: string): ReadonlySet<string> {
    let owners = this.#capsule.get(cluster)
    if (!owners) {
      const tenants = this.renderedAnywhere(cluster, 'capsule.clastix.io/Tenant')
      owners = capsuleOwners(tenants.filter(isPlatform).map(({ object }) => object))
      this.#capsule.set(cluster, owners)
    }
    return owners
  }

  /** The tenant who alone deploys from what a source follows, by `sourceKey`. */
  authorOf(source: string): string | undefined {
    this.#authors ??= repositoryAuthors(this.#fleet)
    return this.#authors.get(source)
  }

  /** The node that a Flux Kustomization became. */
  nodeOf(cluster: string, object: KubeObject): FleetNode | undefined {
    const node = this.#nodes.get(nodeKey(cluster, idOf(object)))
    return node?.kustomization === object ? node : undefined
  }

  /**
   * The tenant that an object acts for: that of the node which applies it, else the one that the Kustomization became a
   * node of, else the one to whom the platform gave its namespace. Undefined: the platform.
   */
  actsFor(node: FleetNode, object: KubeObject): string | undefined {
    if (node.tenant !== undefined) return node.tenant
    const child = this.nodeOf(node.cluster, object)
    return child ? child.tenant : this.givenTo(node.cluster, idOf(object).namespace)
  }

  #table(cluster: string): ObjectTable {
    let table = this.#tables.get(cluster)
    if (!table) {
      table = new ObjectTable(this.#fleet.nodes.filter(node => node.cluster === cluster))
      this.#tables.set(cluster, table)
    }
    return table
  }
}

const isPlatform = ({ node }: Rendered) => node.tenant === undefined

/** `<group>/<Kind>` of an object. */
export function kindOf(object: KubeObject): string {
  const { apiVersion, kind } = idOf(object)
  return `${groupOf(apiVersion)}/${kind}`
}
