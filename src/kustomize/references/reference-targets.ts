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
  private readonly byName = new Map<string, Resource[]>()
  private readonly byPlace = new Map<string, Target[]>()
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
      for (const name of new Set(resource.previous.map(id => id.name))) {
        push(this.byName, name, resource)
        push(this.byPlace, placeKey(name, namespace), { resource, index })
      }
    }
  }

  /** What `referrer` may refer to at all (SubsetThatCouldBeReferencedByResource). Throws what its subjects are wrong in. */
  seenBy(referrer: Resource): VisibleTargets {
    const { namespace } = referrer.current
    if (namespace === NO_NAMESPACE) {
      return {
        called: name => this.byName.get(name) ?? [],
        hasOriginal: original => original !== NO_NAMESPACE && this.allOriginals.has(original),
      }
    }
    const others = accountNamespaces(referrer)
    const places = new Set([namespace, NO_NAMESPACE, ...[...others].map(other => other || 'default')])
    const isSeen = (resource: Resource): boolean => {
      const place = resource.current.namespace
      return place === namespace || place === NO_NAMESPACE || others.has(writtenNamespace(resource))
    }
    return {
      called: name => {
        const found = [...places].flatMap(place => this.byPlace.get(placeKey(name, place)) ?? [])
        if (found.length > 1) found.sort((a, b) => a.index - b.index)
        return found.map(target => target.resource).filter(isSeen)
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

const placeKey = (name: string, namespace: string): string => `${namespace}\0${name}`

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
