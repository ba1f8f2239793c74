import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { at, isAbsent, type Node, stringAt, writtenText } from '../../kube/node.ts'
import type { ReferenceRule } from '../fields/transformer-config.ts'
import { specMatches } from '../resource/field-spec.ts'
import { describe, NO_NAMESPACE, originalId, type Resource, type ResourceId } from '../resource/resource.ts'

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

/** A field that holds a name, and whose. */
export interface NameReference {
  readonly referrer: Resource
  /** The kind that the field is about. */
  readonly rule: Pick<ReferenceRule, 'group' | 'version' | 'kind'>
  readonly path: string
}

/**
 * The object among `called` (what had the name that stands in the field) that the reference means; undefined for none.
 * Throws `kustomize-invalid` where it could be several that are not `same` (selectReferral of filters/nameref, 5.8.1).
 */
export function selectReferral(
  { referrer, rule, path }: NameReference,
  called: readonly Resource[],
  origin: Origin,
  same: (a: Resource, b: Resource) => boolean,
): Resource | undefined {
  let found = called.filter(target => target.previous.length > 0 && wasOf(target, { ...rule, path: '' }))
  const roleRef = path.endsWith('roleRef/name') ? roleRefParts(referrer) : undefined
  if (roleRef) {
    const named = { group: writtenText(roleRef.group), kind: writtenText(roleRef.kind), path: '' }
    found = found.filter(target => wasOf(target, named))
  }
  found = found.filter(target => isNear(referrer, target))
  if (found.length === 1) return found[0]
  found = found.filter(target => sharesAffixes(referrer, target, true))
  if (found.length > 1) found = found.filter(target => sharesAffixes(referrer, target, false))
  const [first, ...others] = found
  if (!first || others.every(other => same(first, other))) return first
  const names = found.slice(0, 5).map(target => describe(target.current))
  const message = `${path}: matches each of ${names.join(', ')}`
  throw new BailiwickError('kustomize-invalid', `ambiguous reference: ${message}`, { origin })
}

/** Whether the object was of a kind before; its group and version are those of today. */
function wasOf(target: Resource, kind: { path: string; group?: string; version?: string; kind?: string }): boolean {
  const { group, version } = target.current
  return target.previous.some(id => specMatches(kind, { group, version, kind: id.kind } satisfies Partial<ResourceId>))
}

function isNear(referrer: Resource, target: Resource): boolean {
  const own = referrer.current.namespace
  const other = target.current
  if (own === NO_NAMESPACE || other.namespace === NO_NAMESPACE) return true
  return other.kind === 'ServiceAccount' || own === other.namespace
}

/** Whether one of the two went through the same kustomizations as the other, as far as affixes tell. */
function sharesAffixes(a: Resource, b: Resource, allowEmpty: boolean): boolean {
  return (['prefixes', 'suffixes'] as const).every(side => {
    if (allowEmpty && (a[side].length === 0 || b[side].length === 0)) return true
    return endAlike(a[side], b[side])
  })
}

function endAlike(a: readonly string[], b: readonly string[]): boolean {
  const [short, long] = a.length > b.length ? [b, a] : [a, b]
  if (short.length === 0) return long.length === 0
  const difference = long.length - short.length
  return short.every((part, index) => part === long[index + difference])
}

/** Whether a reference to either reads the same. */
export function sameName(a: Resource, b: Resource): boolean {
  return a.current.name === b.current.name
}

/** The same for a reference with a namespace, too. */
export function sameNameAndNamespace(a: Resource, b: Resource): boolean {
  return sameName(a, b) && writtenNamespace(a) === writtenNamespace(b)
}

/**
 * Namespaces of the accounts that a RoleBinding names, as they are written (getNamespacesForRoleBinding, 5.8.1). Throws
 * `kustomize-invalid` for one that is blank, `kustomize-unsupported` where kustomize panics.
 */
function accountNamespaces(referrer: Resource): ReadonlySet<string> {
  const subjects = at(referrer.root, ['subjects'])
  if (subjects?.type !== 'list' || stringAt(referrer.root, ['kind']) !== 'RoleBinding') return NONE
  const namespaces = new Set<string>()
  for (const subject of subjects.items) {
    if (subject.type !== 'map') return panics('subjects: an item is not a map', subject)
    const namespace = subject.fields.get('namespace')?.value
    const kind = subject.fields.get('kind')?.value
    if (!namespace || !kind) continue
    if (kind.type !== 'scalar' || typeof kind.value !== 'string') return panics('subjects: kind is not a string', kind)
    if (kind.value !== 'ServiceAccount') continue
    if (namespace.type === 'scalar' && typeof namespace.value === 'string') namespaces.add(namespace.value)
    else throw new BailiwickError('kustomize-invalid', 'subjects: namespace is blank', { origin: namespace.origin })
  }
  return namespaces
}

const NONE: ReadonlySet<string> = new Set()

/** The kind that a roleRef means; undefined where the reference is incomplete. */
function roleRefParts(referrer: Resource): { group: Node; kind: Node } | undefined {
  const roleRef = at(referrer.root, ['roleRef'])
  if (isAbsent(roleRef) || roleRef.type !== 'map') return undefined
  const group = roleRef.fields.get('apiGroup')?.value
  const kind = roleRef.fields.get('kind')?.value
  return group && kind ? { group, kind } : undefined
}

function panics(message: string, node: Node): never {
  throw new BailiwickError('kustomize-unsupported', `${message}. kustomize panics on it`, { origin: node.origin })
}
