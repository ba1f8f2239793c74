import { BailiwickError } from '../../errors.ts'
import { allIds, currentId, describe, type Resource, type ResourceId, resourceOrigin, sameId } from './resource.ts'

/** The objects of one accumulation, in the order in which they came; no two have the same identity. */
export class ResourceList {
  private list: Resource[] = []
  private readonly byId = new Map<string, Resource>()

  get all(): readonly Resource[] {
    return this.list
  }

  /** Throws `kustomize-invalid` for an identity that is there already. */
  append(resource: Resource): void {
    const id = currentId(resource)
    const other = this.byId.get(keyOf(id))
    if (other) {
      const first = resourceOrigin(other)
      const message = `${describe(id)} is defined twice: here and in ${first.file}:${first.line}`
      throw new BailiwickError('kustomize-invalid', message, {
        origin: resourceOrigin(resource),
        fix: 'Keep one of them, or patch the other.',
      })
    }
    this.byId.set(keyOf(id), resource)
    this.list.push(resource)
  }

  appendAll(resources: Iterable<Resource>): void {
    for (const resource of resources) this.append(resource)
  }

  /** Replaces what `resources` are without asking whether ids are unique; call after ids may have changed. */
  reset(resources: readonly Resource[]): void {
    this.list = []
    this.byId.clear()
    this.appendAll(resources)
  }

  /** Takes new content for all objects whose ids changed in place, and refuses a collision of two of them. */
  reindex(): void {
    this.reset(this.list)
  }

  /** Objects that have or had this identity. */
  findByAnyId(id: ResourceId): Resource[] {
    return this.list.filter(resource => allIds(resource).some(other => sameId(other, id)))
  }

  replace(old: Resource, by: Resource): void {
    this.list = this.list.map(resource => (resource === old ? by : resource))
    this.reindex()
  }
}

function keyOf(id: ResourceId): string {
  return [id.group, id.version, id.kind, id.namespace, id.name].join('\0')
}
