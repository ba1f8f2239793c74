import { BailiwickError } from '../../errors.ts'
import { canonical, stringAt } from '../../kube/node.ts'
import { STRICT, type Tolerance } from '../model/tolerance.ts'
import { IdIndex } from './id-index.ts'
import { describe, keyOfId, type Resource, type ResourceId, resourceOrigin } from './resource.ts'

/** By which `flux create tenant` marks the namespaces of a tenant. */
const TENANT_LABEL = ['metadata', 'labels', 'toolkit.fluxcd.io/tenant']

/**
 * The objects of one accumulation, in the order in which they came. Those that change are looked up by what they are
 * called then, without anybody saying so: an object notes its changes, and an index reads the notes before it answers.
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
    this.refresh()
    const other = this.current.first(resource.key)
    if (other) {
      this.refuse(other, resource)
      return
    }
    this.list.push(resource)
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
      for (const resource of resources) if (!this.keys.has(resource)) this.enter(resource)
    }
    this.checkUnique()
  }

  /** Throws `kustomize-invalid` where two objects have become one. */
  checkUnique(): void {
    this.refresh()
    for (let collision = this.current.collision(); collision; collision = this.current.collision()) {
      this.refuse(collision[0]!, collision[1]!)
      this.remove(collision[1]!)
    }
  }

  private refuse(first: Resource, second: Resource): void {
    const hides = () => canonical(second.root)
    this.tolerance.attempt({ effect: 'missing', hides, depends: true, brings: true }, () => refuseTwice(first, second))
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

function refuseTwice(first: Resource, second: Resource): never {
  const origin = resourceOrigin(first)
  const message = `${describe(second.current)} is defined twice: here and in ${origin.file}:${origin.line}`
  throw new BailiwickError('kustomize-invalid', message, {
    origin: resourceOrigin(second),
    rule: isClaimed(first, second) ? 'namespace-ownership' : undefined,
    fix: 'Delete one of the two, or change it with a patch.',
  })
}

/** Two tenants who claim one namespace are no slip of the pen. */
function isClaimed(first: Resource, second: Resource): boolean {
  const { kind, group } = second.current
  const [one, other] = [first, second].map(({ root }) => stringAt(root, TENANT_LABEL))
  return kind === 'Namespace' && group === '' && one !== undefined && other !== undefined && one !== other
}
