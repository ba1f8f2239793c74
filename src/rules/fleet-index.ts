import { capsuleOwners } from '../fleet/capsule.ts'
import type { Cluster, Fleet, FleetNode } from '../fleet/fleet.ts'
import { nodeKey } from '../fleet/node-key.ts'
import { TENANT_LABEL } from '../fleet/tenancy.ts'
import { stringAt } from '../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../kube/object.ts'
import { type CustomScopes, customScopes, type Scope, scopeOf } from '../kube/scope.ts'

/** Answers that rules need again and again, worked out once per fleet. */
export class FleetIndex {
  readonly #clusters: Map<string, Cluster>
  readonly #nodes: Map<string, FleetNode>
  readonly #platform = new Map<string, readonly KubeObject[]>()
  readonly #scopes = new Map<string, CustomScopes>()
  readonly #byId = new Map<string, KubeObject>()
  readonly #capsule = new Map<string, ReadonlySet<string>>()

  constructor(fleet: Fleet) {
    this.#clusters = new Map(fleet.clusters.map(cluster => [cluster.name, cluster]))
    this.#nodes = new Map(fleet.nodes.map(node => [node.key, node]))
    for (const { name } of fleet.clusters) {
      // Only the platform may say what a kind is and whose account exists: a tenant's own word would free the tenant.
      const own = fleet.nodes.filter(node => node.cluster === name && node.tenant === undefined)
      const objects = own.flatMap(node => node.objects)
      this.#platform.set(name, objects)
      this.#scopes.set(name, customScopes(objects))
      this.#capsule.set(name, capsuleOwners(objects))
      for (const object of objects) this.#byId.set(keyOf(name, object), object)
    }
  }

  node(key: string | undefined): FleetNode | undefined {
    return key === undefined ? undefined : this.#nodes.get(key)
  }

  cluster(name: string): Cluster | undefined {
    return this.#clusters.get(name)
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

  scopeOf(cluster: string, apiVersion: string, kind: string): Scope | undefined {
    return scopeOf(apiVersion, kind, this.#scopes.get(cluster) ?? new Map())
  }

  /** An object that the platform renders on a cluster; the kind is `<group>/<Kind>`. */
  platformObject(cluster: string, kind: string, namespace: string, name: string): KubeObject | undefined {
    return this.#byId.get(JSON.stringify([cluster, kind, namespace, name]))
  }

  /** Who owns a Capsule Tenant on a cluster. */
  capsuleOwners(cluster: string): ReadonlySet<string> {
    return this.#capsule.get(cluster) ?? new Set()
  }

  /** The node that a Flux Kustomization became. */
  nodeOf(cluster: string, object: KubeObject): FleetNode | undefined {
    const node = this.#nodes.get(nodeKey(cluster, idOf(object)))
    return node?.kustomization === object ? node : undefined
  }
}

function keyOf(cluster: string, object: KubeObject): string {
  const { apiVersion, kind, namespace, name } = idOf(object)
  return JSON.stringify([cluster, `${groupOf(apiVersion)}/${kind}`, namespace, name])
}
