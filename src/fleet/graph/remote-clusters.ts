import { BailiwickError } from '../../errors.ts'
import { groupOf, idOf } from '../../kube/object.ts'
import type { Cluster } from '../model/fleet.ts'
import { CAPSULE_GROUP, readCapsuleTenants } from '../tenancy/capsule.ts'
import { type DeclaredTenancy, Tenancy } from '../tenancy/tenancy.ts'
import type { Draft } from './draft.ts'

/**
 * The clusters to which a hub applies by kubeconfigs, each with namespaces and tenants of its own: nothing of them counts
 * on the hub. A Kustomization that is applied there is reconciled by the Flux of that cluster, so it becomes no node of the hub.
 */
export class RemoteClusters {
  readonly #tenancies = new Map<string, Tenancy>()
  readonly #declaredIn: (cluster: string) => DeclaredTenancy

  /** `declaredIn`: what the fleet's own file says about the namespaces of a cluster. */
  constructor(declaredIn: (cluster: string) => DeclaredTenancy) {
    this.#declaredIn = declaredIn
  }

  /** Takes note of what a node applies to its cluster. */
  add(draft: Draft): void {
    const tenancy = this.#tenancies.get(draft.cluster) ?? new Tenancy(this.#declaredIn(draft.cluster))
    this.#tenancies.set(draft.cluster, tenancy)
    const objects = [...draft.objects, ...(draft.retained ?? [])]
    const ofCapsule = objects.filter(object => groupOf(idOf(object).apiVersion) === CAPSULE_GROUP)
    if (ofCapsule.length > 0) tenancy.capsule.add(readCapsuleTenants(ofCapsule))
    for (const object of objects) {
      const { apiVersion, kind } = idOf(object)
      if (kind !== 'Namespace' || groupOf(apiVersion) !== '') continue
      try {
        tenancy.declare(object)
      } catch (error) {
        if (!(error instanceof BailiwickError)) throw error
        draft.error ??= error
      }
    }
  }

  /** All of them by name, once nothing more is added. The flags are those of the controllers that apply: the hub's. */
  settled(hub: Pick<Cluster, 'name' | 'path' | 'how' | 'lockdown'>): Cluster[] {
    const names = [...this.#tenancies.keys()].sort()
    return names.map(name => {
      const tenancy = this.#tenancies.get(name)!
      tenancy.settle(new Set())
      const capsuleOwners = tenancy.capsule.owners()
      return { ...hub, name, hub: hub.name, owners: tenancy.owners, capsuleOwners }
    })
  }
}
