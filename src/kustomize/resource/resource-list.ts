import { BailiwickError } from '../../base/errors.ts'
import { firstNames } from '../../base/name-list.ts'
import {
  at,
  canonical,
  type Field,
  isAbsent,
  isEmpty,
  type MapNode,
  type Path,
  stringAt,
  withField,
  withoutField,
  withValueAt,
  writtenText,
} from '../../kube/node.ts'
import { STRICT, type Tolerance } from '../entry.ts'
import { currentId, describe, keyOfId, type Resource, type ResourceId, resourceOrigin } from './resource.ts'
import { valueNode } from './round-trip.ts'

/** By which `flux create tenant` marks the namespaces of a tenant. */
const TENANT_LABEL = ['metadata', 'labels', 'toolkit.fluxcd.io/tenant']

/**
 * The objects of one accumulation, in the order in which they came. An object notes changes of its identity, and an
 * index reads these notes before each lookup, so callers do not report changes.
 */
export class ResourceList {
  private list: Resource[] = []
  private readonly changed = new Set<Resource>()
  /** By the identity of now, under which each stands in `keys`. */
  private readonly current = new IdIndex()
  private readonly keys = new Map<Resource, string>()
  /** By every identity, for those who ask: many lists are only handed on. */
  private any: { readonly index: IdIndex; readonly keys: Map<Resource, readonly string[]> } | undefined
  readonly tolerance: Tolerance

  /** With a lenient one, the second of two objects of one identity is taken out. */
  constructor(tolerance: Tolerance = STRICT) {
    this.tolerance = tolerance
  }

  get all(): readonly Resource[] {
    return this.list
  }

  /** Throws `kustomize-invalid` for an identity that is there already. */
  append(resource: Resource): void {
    this.appendAll([resource])
  }

  /** Throws `kustomize-invalid` for identities that are there already: once for all that one entry includes again. */
  appendAll(resources: Iterable<Resource>): void {
    this.refresh()
    const included: Resource[] = []
    for (const second of resources) {
      const first = this.current.first(second.key)
      if (!first) {
        this.list.push(second)
        this.enter(second)
      } else if (isIncludedTwice({ first, second })) included.push(second)
      else this.refuse([second], () => refuseTwice({ first, second }))
    }
    if (included.length > 0) this.refuse(included, () => refuseIncluded(included))
  }

  /** Makes `resources` the whole list. Throws `kustomize-invalid` for two of one identity. */
  reset(resources: readonly Resource[]): void {
    if (resources.length !== this.list.length || resources.some((resource, i) => resource !== this.list[i])) {
      const kept = new Set(resources)
      for (const resource of this.list) if (!kept.has(resource)) this.leave(resource)
      this.list = [...resources]
      for (const resource of resources) if (!this.keys.has(resource)) this.enter(resource)
    }
    this.checkUnique()
  }

  /** Throws `kustomize-invalid` where two objects have become one. */
  checkUnique(): void {
    this.refresh()
    for (let collision = this.current.collision(); collision; collision = this.current.collision()) {
      const [first, second] = collision as [Resource, Resource]
      this.refuse([second], () => refuseTwice({ first, second }))
      this.remove(second)
    }
  }

  private refuse(objects: readonly Resource[], refusal: () => never): void {
    const hides = () => objects.map(({ root }) => canonical(root)).join()
    this.tolerance.attempt({ effect: 'missing', hides, depends: true, brings: true }, refusal)
  }

  /** Gives back what puts the list, and the objects in it, back as they are now. */
  save(): () => void {
    const copies = this.list.map(resource => resource.copy())
    return () => {
      for (const resource of this.list) this.leave(resource)
      this.changed.clear()
      this.list = copies
      for (const resource of copies) this.enter(resource)
    }
  }

  /** Objects that have or had this identity. */
  findByAnyId(id: ResourceId): readonly Resource[] {
    this.refresh()
    if (!this.any) {
      this.any = { index: new IdIndex(), keys: new Map() }
      for (const resource of this.list) this.enterAny(resource)
    }
    return this.any.index.all(keyOfId(id))
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
    this.enter(by)
    this.checkUnique()
  }

  private refresh(): void {
    for (const resource of this.changed) {
      const before = this.keys.get(resource)
      if (before === undefined) continue
      if (before !== resource.key) {
        this.current.remove(before, resource)
        this.current.add(resource.key, resource)
        this.keys.set(resource, resource.key)
      }
      this.refreshAny(resource, before)
    }
    this.changed.clear()
  }

  /** Most changes add one identity to those that are known. */
  private refreshAny(resource: Resource, before: string): void {
    const known = this.any?.keys.get(resource)
    if (!this.any || !known || (known.length === resource.previous.length + 1 && before === resource.key)) return
    const last = resource.previous.at(-1)
    const grew = known.length === resource.previous.length && last && keyOfId(last) === known.at(-1)
    if (grew && last.group === resource.current.group && last.version === resource.current.version) {
      this.any.index.add(resource.key, resource)
      this.any.keys.set(resource, [...known, resource.key])
    } else {
      this.leaveAny(resource)
      this.enterAny(resource)
    }
  }

  private enter(resource: Resource): void {
    resource.changes = this.changed
    this.keys.set(resource, resource.key)
    this.current.add(resource.key, resource)
    if (this.any) this.enterAny(resource)
  }

  private leave(resource: Resource): void {
    const key = this.keys.get(resource)
    if (key === undefined) return
    resource.changes = undefined
    this.keys.delete(resource)
    this.current.remove(key, resource)
    this.leaveAny(resource)
  }

  private enterAny(resource: Resource): void {
    const keys = resource.all.map(id => (id === resource.current ? resource.key : keyOfId(id)))
    this.any?.keys.set(resource, keys)
    for (const key of keys) this.any?.index.add(key, resource)
  }

  private leaveAny(resource: Resource): void {
    for (const key of this.any?.keys.get(resource) ?? []) this.any?.index.remove(key, resource)
    this.any?.keys.delete(resource)
  }
}

/** Two objects of one identity. */
interface Twice {
  readonly first: Resource
  readonly second: Resource
}

/** Whether they are one document that was included twice. */
function isIncludedTwice({ first, second }: Twice): boolean {
  const [one, other] = [resourceOrigin(first), resourceOrigin(second)]
  const isOneFile = one.repository === other.repository && one.file === other.file
  return isOneFile && one.line === other.line && !isClaimed(first, second)
}

function refuseTwice({ first, second }: Twice): never {
  const origin = resourceOrigin(first)
  const message = `${describe(second.current)} is defined twice: here and in ${origin.file}:${origin.line}`
  throw new BailiwickError('kustomize-invalid', message, {
    origin: resourceOrigin(second),
    rule: isClaimed(first, second) ? 'namespace-ownership' : undefined,
    fix: 'Delete one of the two, or change it with a patch.',
  })
}

const MAX_NAMES = 12

/** One entry too many is one cause, whatever it brings. */
function refuseIncluded(objects: readonly Resource[]): never {
  const names = objects.map(one => describe(one.current))
  const origin = resourceOrigin(objects[0]!)
  const files = names.length === 1 ? `is defined twice: ${origin.file} is` : 'are defined twice: their files are'
  throw new BailiwickError('kustomize-invalid', `${firstNames(names, MAX_NAMES)} ${files} included more than once`, {
    origin,
    fix: 'Include each file and folder once. Flux includes every folder below a spec.path without kustomization.yaml: set spec.path to one of them.',
  })
}

/** Two tenants who claim one namespace are no slip of the pen. */
function isClaimed(first: Resource, second: Resource): boolean {
  const { kind, group } = second.current
  const [one, other] = [first, second].map(({ root }) => stringAt(root, TENANT_LABEL))
  return kind === 'Namespace' && group === '' && one !== undefined && other !== undefined && one !== other
}

/** Objects by the text of an identity. Nearly always there is one for each, so only the others get a set of their own. */
class IdIndex {
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

/**
 * Adds a generated object, or lets it replace or extend the one that has (or had) its identity, by its `behavior`
 * (api/resmap/reswrangler.go). Throws `kustomize-invalid` where the behavior does not fit what is there.
 */
export function absorb(resources: ResourceList, generated: Resource): void {
  const id = currentId(generated)
  const [old, second] = resources.findByAnyId(id)
  const { behavior } = generated
  const changes = behavior === 'merge' || behavior === 'replace'
  if (second) fail(`${describe(id)}: matches more than one object`, generated)
  if (!old) {
    if (changes) fail(`${describe(id)}: does not exist, so behavior ${behavior} is not possible`, generated)
    resources.append(generated)
    return
  }
  if (!changes) fail(`${describe(id)}: exists already. Set behavior to merge or replace`, generated)
  const root = withOldMetadata(generated.root, old.root)
  // a patch may have made the old object one of another kind, which kustomize then does not find
  if (old.current.kind !== id.kind) fail(`${describe(old.current)}: not a ${id.kind}`, generated)
  old.root = behavior === 'merge' ? withOldData(root, old.root) : root
  old.trail = [...old.trail, ...generated.trail]
  old.needsHash &&= generated.needsHash
}

/** Name and namespace are those that the old object has now; labels and annotations are those of both. */
function withOldMetadata(root: MapNode, old: MapNode): MapNode {
  let result = withTextsOfBoth(root, old, ['metadata', 'labels'])
  result = withTextsOfBoth(result, old, ['metadata', 'annotations'])
  const name = at(old, ['metadata', 'name'])
  if (name) result = withValueAt(result, ['metadata', 'name'], name)
  const namespace = at(old, ['metadata', 'namespace'])
  if (namespace && stringAt(old, ['metadata', 'namespace'])) {
    return withValueAt(result, ['metadata', 'namespace'], namespace)
  }
  const metadata = at(result, ['metadata'])
  return metadata?.type === 'map' ? withField(result, 'metadata', withoutField(metadata, 'namespace')) : result
}

function withOldData(root: MapNode, old: MapNode): MapNode {
  return withTextsOfBoth(withTextsOfBoth(root, old, ['data']), old, ['binaryData'])
}

/** The maps of both objects as one from text to text; the own value wins, no value is not a map. */
function withTextsOfBoth(root: MapNode, old: MapNode, path: readonly string[]): MapNode {
  const fields = new Map([...textsAt(old, path), ...textsAt(root, path)])
  const parentPath = path.slice(0, -1)
  const key = path.at(-1)!
  const origin = at(root, path)?.origin ?? at(old, path)?.origin ?? root.origin
  if (fields.size > 0) return withValueAt(root, path, { type: 'map', fields, origin })
  const parent = at(root, parentPath)
  if (parent?.type !== 'map' || !parent.fields.has(key)) return root
  const without = withoutField(parent, key)
  return parentPath.length === 0 ? without : withValueAt(root, parentPath, without)
}

function textsAt(root: MapNode, path: Path): [string, Field][] {
  const map = at(root, path)
  if (map?.type !== 'map' || isEmpty(map)) return []
  return [...map.fields].map(([key, { key: origin, value }]) => {
    // of a null in data kustomize sees nothing, of one in labels what was written
    const text = path.length === 1 && isAbsent(value) ? '' : writtenText(value)
    const opaque = value.type === 'scalar' && value.opaque ? { opaque: value.opaque } : {}
    return [key, { key: origin, value: { ...valueNode(text, value.origin), ...opaque } }]
  })
}

function fail(message: string, generated: Resource): never {
  throw new BailiwickError('kustomize-invalid', message, { origin: resourceOrigin(generated) })
}

export const FIRST_KINDS: readonly string[] = (
  'Namespace ResourceQuota StorageClass CustomResourceDefinition ServiceAccount PodSecurityPolicy Role ClusterRole ' +
  'RoleBinding ClusterRoleBinding ConfigMap Secret Endpoints Service LimitRange PriorityClass PersistentVolume ' +
  'PersistentVolumeClaim Deployment StatefulSet CronJob PodDisruptionBudget'
).split(' ')
export const LAST_KINDS: readonly string[] = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']

const PLACES: ReadonlyMap<string, number> = new Map([
  ...FIRST_KINDS.map((kind, index) => [kind, index - FIRST_KINDS.length] as const),
  ...LAST_KINDS.map((kind, index) => [kind, index + 1] as const),
])

interface Kind {
  readonly group?: string
  readonly version?: string
  readonly kind?: string
}

/** The order in which kustomize sorts kinds: what others refer to first (kyaml/resid/gvk.go, 5.8.1). */
export function compareKinds(a: Kind, b: Kind): number {
  const difference = (PLACES.get(a.kind ?? '') ?? 0) - (PLACES.get(b.kind ?? '') ?? 0)
  if (difference !== 0) return difference
  return compareBytes(sortText(a), sortText(b))
}

/** Go compares the bytes of UTF-8; JavaScript's own order differs for rare letters only. */
function compareBytes(a: string, b: string): number {
  if (a === b) return 0
  return /^[\0-\ud7ff]*$/.test(a + b) ? (a < b ? -1 : 1) : Buffer.compare(Buffer.from(a), Buffer.from(b))
}

function sortText({ group, version, kind }: Kind): string {
  return `${group || '~G'}_${version || '~V'}_${kind || '~K'}`
}
