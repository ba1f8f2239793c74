import type { Resource } from './resource.ts'

/** Objects by the text of an identity. Nearly always there is one for each, so only the others get a set of their own. */
export class IdIndex {
  private readonly single = new Map<string, Resource>()
  private readonly several = new Map<string, Set<Resource>>()

  add(key: string, resource: Resource): void {
    const there = this.single.get(key)
    if (!there) this.single.set(key, resource)
    else if (there !== resource) {
      const all = this.several.get(key)
      if (all) all.add(resource)
      else this.several.set(key, new Set([there, resource]))
    }
  }

  remove(key: string, resource: Resource): void {
    const all = this.several.get(key)
    if (!all) {
      if (this.single.get(key) === resource) this.single.delete(key)
      return
    }
    all.delete(resource)
    const [first] = all
    if (first) this.single.set(key, first)
    if (all.size < 2) this.several.delete(key)
  }

  /** What there is first with this identity. */
  first(key: string): Resource | undefined {
    return this.single.get(key)
  }

  all(key: string): readonly Resource[] {
    const several = this.several.get(key)
    if (several) return [...several]
    const single = this.single.get(key)
    return single ? [single] : []
  }

  /** Two objects of one identity; undefined where there are none. */
  collision(): readonly Resource[] | undefined {
    const [first] = this.several.values()
    return first && [...first]
  }
}
