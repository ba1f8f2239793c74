import { stringAt } from '../../kube/node.ts'
import { NO_NAMESPACE, originalId, type Resource } from '../resource/resource.ts'
import { accountNamespaces } from './role-binding.ts'

interface Target {
  readonly resource: Resource
  /** Place in the list of all objects. */
  readonly index: number
}

/** The objects that were called something else before, by those names and by where they are now. */
export class ReferenceTargets {
  private readonly resources: readonly Resource[]
  /** By namespace and name. */
  private readonly byPlace = new Map<string, Map<string, Target[]>>()
  /** By name alone, for what may refer to every namespace. */
  private byName: Map<string, Resource[]> | undefined
  /** Namespaces that objects had first, by the one they are in now, in effect and as written. */
  private readonly originals = new Map<string, Set<string>>()
  private readonly writtenOriginals = new Map<string, Set<string>>()
  private readonly allOriginals = new Set<string>()

  constructor(resources: readonly Resource[]) {
    for (const [index, resource] of resources.entries()) {
      const { namespace } = resource.current
      const original = originalId(resource).namespace
      add(this.originals, namespace, original)
      add(this.writtenOriginals, writtenNamespace(resource), original)
      this.allOriginals.add(original)
      if (resource.previous.length === 0) continue
      const place = this.byPlace.get(namespace) ?? new Map<string, Target[]>()
      this.byPlace.set(namespace, place)
      for (const name of namesOf(resource)) push(place, name, { resource, index })
    }
    this.resources = resources
  }

  private everywhere(name: string): readonly Resource[] {
    if (!this.byName) {
      this.byName = new Map()
      for (const resource of this.resources) for (const own of namesOf(resource)) push(this.byName, own, resource)
    }
    return this.byName.get(name) ?? []
  }

  /** What `referrer` may refer to at all (SubsetThatCouldBeReferencedByResource). Throws what its subjects are wrong in. */
  seenBy(referrer: Resource): VisibleTargets {
    const { namespace } = referrer.current
    if (namespace === NO_NAMESPACE) {
      return {
        called: name => this.everywhere(name),
        hasOriginal: original => original !== NO_NAMESPACE && this.allOriginals.has(original),
      }
    }
    const others = accountNamespaces(referrer)
    const own = [namespace, NO_NAMESPACE]
    const places = others.size === 0 ? own : new Set([...own, ...[...others].map(other => other || 'default')])
    const isSeen = (resource: Resource): boolean => {
      const place = resource.current.namespace
      return place === namespace || place === NO_NAMESPACE || others.has(writtenNamespace(resource))
    }
    return {
      called: name => {
        const found: Target[] = []
        for (const place of places) {
          for (const target of this.byPlace.get(place)?.get(name) ?? []) if (isSeen(target.resource)) found.push(target)
        }
        if (found.length > 1) found.sort((a, b) => a.index - b.index)
        return found.map(target => target.resource)
      },
      hasOriginal: original =>
        original !== NO_NAMESPACE &&
        (has(this.originals, namespace, original) ||
          has(this.originals, NO_NAMESPACE, original) ||
          [...others].some(other => has(this.writtenOriginals, other, original))),
    }
  }
}

/** What one object may refer to. */
export interface VisibleTargets {
  /** Objects that had this name once, in the order of all objects. */
  readonly called: (name: string) => readonly Resource[]
  /** Whether there is any object that was in this namespace at first. */
  readonly hasOriginal: (namespace: string) => boolean
}

/** The namespace as the object names it; '' for none. */
export function writtenNamespace(resource: Resource): string {
  return stringAt(resource.root, ['metadata', 'namespace']) ?? ''
}

/** What an object was called before, each name once. */
function namesOf({ previous }: Resource): readonly string[] {
  const [first, second] = previous
  if (first && !second) return [first.name]
  return [...new Set(previous.map(id => id.name))]
}

function push<V>(map: Map<string, V[]>, key: string, value: V): void {
  const there = map.get(key)
  if (there) there.push(value)
  else map.set(key, [value])
}

function add(map: Map<string, Set<string>>, key: string, value: string): void {
  const there = map.get(key)
  if (there) there.add(value)
  else map.set(key, new Set([value]))
}

const has = (map: Map<string, Set<string>>, key: string, value: string): boolean => map.get(key)?.has(value) ?? false
