import { BailiwickError } from '../../errors.ts'
import { describe, type Resource, type ResourceId, resourceOrigin } from './resource.ts'

/**
 * The objects of one accumulation, in the order in which they came. Those that change are looked up by what they are
 * called then, without anybody saying so: an object notes its changes, and an index reads the notes before it answers.
 */
export class ResourceList {
  private list: Resource[] = []
  private readonly current = new Map<string, Set<Resource>>()
  private readonly any = new Map<string, Set<Resource>>()
  private readonly keys = new Map<Resource, readonly string[]>()
  private readonly changed = new Set<Resource>()
  /** Keys of identities that more than one object has. */
  private readonly twice = new Set<string>()

  get all(): readonly Resource[] {
    return this.list
  }

  /** Throws `kustomize-invalid` for an identity that is there already. */
  append(resource: Resource): void {
    this.refresh()
    const [other] = this.current.get(keyOf(resource.current)) ?? []
    if (other) refuseTwice(other, resource)
    this.list.push(resource)
    resource.changes = this.changed
    this.enter(resource)
  }

  appendAll(resources: Iterable<Resource>): void {
    for (const resource of resources) this.append(resource)
  }

  /** Makes `resources` the whole list. Throws `kustomize-invalid` for two of one identity. */
  reset(resources: readonly Resource[]): void {
    if (resources.length !== this.list.length || resources.some((resource, i) => resource !== this.list[i])) {
      const kept = new Set(resources)
      for (const resource of this.list) if (!kept.has(resource)) this.leave(resource)
      this.list = [...resources]
      for (const resource of resources) {
        if (this.keys.has(resource)) continue
        resource.changes = this.changed
        this.enter(resource)
      }
    }
    this.checkUnique()
  }

  /** Throws `kustomize-invalid` where two objects have become one. */
  checkUnique(): void {
    this.refresh()
    for (const key of this.twice) {
      const [first, second] = this.current.get(key)!
      refuseTwice(first!, second!)
    }
  }

  /** Objects that have or had this identity, in the order of the list as long as none was renamed. */
  findByAnyId(id: ResourceId): readonly Resource[] {
    this.refresh()
    return [...(this.any.get(keyOf(id)) ?? [])]
  }

  remove(resource: Resource): void {
    const index = this.list.indexOf(resource)
    if (index < 0) return
    this.list.splice(index, 1)
    this.leave(resource)
  }

  /** Puts `by` where `old` is. Throws `kustomize-invalid` where another object is called so. */
  replace(old: Resource, by: Resource): void {
    const index = this.list.indexOf(old)
    if (index < 0) return
    this.leave(old)
    this.list[index] = by
    by.changes = this.changed
    this.enter(by)
    this.checkUnique()
  }

  private refresh(): void {
    for (const resource of this.changed) {
      const before = this.keys.get(resource)
      if (!before) continue
      const now = keysOf(resource)
      if (now.length === before.length && now.every((key, index) => key === before[index])) continue
      this.leave(resource)
      resource.changes = this.changed
      this.enter(resource)
    }
    this.changed.clear()
  }

  private enter(resource: Resource): void {
    const keys = keysOf(resource)
    this.keys.set(resource, keys)
    for (const key of keys) into(this.any, key, resource)
    const current = keys.at(-1)!
    if (into(this.current, current, resource) > 1) this.twice.add(current)
  }

  private leave(resource: Resource): void {
    const keys = this.keys.get(resource) ?? []
    this.keys.delete(resource)
    resource.changes = undefined
    for (const key of keys) outOf(this.any, key, resource)
    const current = keys.at(-1)
    if (current !== undefined && outOf(this.current, current, resource) < 2) this.twice.delete(current)
  }
}

function keysOf(resource: Resource): readonly string[] {
  return resource.all.map(keyOf)
}

function keyOf(id: ResourceId): string {
  return `${id.group}\0${id.version}\0${id.kind}\0${id.namespace}\0${id.name}`
}

function into(index: Map<string, Set<Resource>>, key: string, resource: Resource): number {
  const there = index.get(key)
  if (!there) index.set(key, new Set([resource]))
  return there ? there.add(resource).size : 1
}

function outOf(index: Map<string, Set<Resource>>, key: string, resource: Resource): number {
  const there = index.get(key)
  there?.delete(resource)
  if (there?.size === 0) index.delete(key)
  return there?.size ?? 0
}

function refuseTwice(first: Resource, second: Resource): never {
  const origin = resourceOrigin(first)
  const message = `${describe(second.current)} is defined twice: here and in ${origin.file}:${origin.line}`
  throw new BailiwickError('kustomize-invalid', message, {
    origin: resourceOrigin(second),
    fix: 'Keep one of them, or patch the other.',
  })
}
