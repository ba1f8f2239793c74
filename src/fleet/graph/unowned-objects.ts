import { idOf, type KubeObject } from '../../kube/object.ts'
import type { Draft } from './draft.ts'

/** What a tenant renders into an unowned namespace. */
interface UnownedObject {
  readonly draft: Draft
  readonly object: KubeObject
}

/**
 * What tenants render into unowned namespaces. With Capsule a tenant may create the namespace in another
 * Kustomization than the one that fills it, and either may come first.
 */
export class UnownedObjects {
  readonly #waiting = new Map<string, UnownedObject[]>()

  /** Those of a tenant's objects that lie in its own namespaces; those in namespaces of nobody wait. */
  own(draft: Draft, objects: readonly KubeObject[], owners: ReadonlyMap<string, string>): KubeObject[] {
    return objects.filter(object => {
      const { namespace } = idOf(object)
      const owner = owners.get(namespace)
      if (owner === undefined && namespace !== '') this.#add(namespace, { draft, object })
      return owner === draft.tenant
    })
  }

  /** What waited for the namespace and belongs to who has it now. */
  release(namespace: string, owners: ReadonlyMap<string, string>): UnownedObject[] {
    const owner = owners.get(namespace)
    const waiting = this.#waiting.get(namespace)
    if (owner === undefined || !waiting) return []
    this.#waiting.delete(namespace)
    return waiting.filter(({ draft }) => draft.tenant === owner)
  }

  #add(namespace: string, one: UnownedObject): void {
    const list = this.#waiting.get(namespace)
    if (list) list.push(one)
    else this.#waiting.set(namespace, [one])
  }
}
