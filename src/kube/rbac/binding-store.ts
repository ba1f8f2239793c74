import type { KubeObject } from '../object.ts'
import type { Binding, BoundSubject } from './binding.ts'
import { userOfAccount } from './groups-of.ts'
import { readBinding } from './read-binding.ts'
import type { UserInfo } from './request.ts'

/** A binding that applies to a user, and the first of its subjects that does. */
export interface BoundTo {
  readonly binding: Binding
  readonly subject: BoundSubject
}

interface BySubject {
  readonly users: Map<string, BoundTo[]>
  readonly groups: Map<string, BoundTo[]>
  readonly order: ReadonlyMap<Binding, number>
}

/** The bindings of one cluster, read by namespace when they are asked for, then found by subject. */
export class BindingStore {
  readonly #objects: ReadonlyMap<string, readonly KubeObject[]>
  readonly #defaults: readonly Binding[]
  readonly #read = new Map<string, readonly Binding[]>()
  readonly #bySubject = new Map<string, BySubject>()
  #places: ReadonlyMap<string, ReadonlySet<string>> | undefined

  /** Objects by namespace, those of the cluster at ''. */
  constructor(objects: ReadonlyMap<string, readonly KubeObject[]>, defaults: readonly Binding[]) {
    this.#objects = objects
    this.#defaults = defaults
  }

  /** Namespaces with a binding, '' among them. */
  namespaces(): string[] {
    return [...new Set(['', ...this.#defaults.map(binding => binding.namespace), ...this.#objects.keys()])]
  }

  /** The bindings of a namespace ('': ClusterRoleBindings) that the API server would take, in the order of the objects. */
  inNamespace(namespace: string): readonly Binding[] {
    const known = this.#read.get(namespace)
    if (known) return known
    const written = (this.#objects.get(namespace) ?? []).map(readBinding).filter(binding => binding !== undefined)
    const bindings = [...written, ...this.#defaults.filter(binding => binding.namespace === namespace)]
    this.#read.set(namespace, bindings)
    return bindings
  }

  /** The namespaces with a RoleBinding that applies to a user, sorted. */
  namespacesOf(user: UserInfo): string[] {
    this.#places ??= this.#placesOfSubjects()
    const keys = [`user ${user.name}`, ...user.groups.map(group => `group ${group}`)]
    return [...new Set(keys.flatMap(key => [...(this.#places?.get(key) ?? [])]))].sort()
  }

  #placesOfSubjects(): ReadonlyMap<string, ReadonlySet<string>> {
    const places = new Map<string, Set<string>>()
    for (const namespace of this.namespaces()) {
      if (namespace === '') continue
      const { users, groups } = this.#indexed(namespace)
      const keys = [
        ...[...users.keys()].map(name => `user ${name}`),
        ...[...groups.keys()].map(name => `group ${name}`),
      ]
      for (const key of keys) places.set(key, (places.get(key) ?? new Set()).add(namespace))
    }
    return places
  }

  /** The bindings of a namespace ('': ClusterRoleBindings) that apply to a user, in the order of the objects. */
  of(user: UserInfo, namespace: string): BoundTo[] {
    const { users, groups, order } = this.#indexed(namespace)
    const found = new Map<Binding, BoundTo>()
    for (const bound of users.get(user.name) ?? []) found.set(bound.binding, bound)
    for (const group of user.groups) {
      for (const bound of groups.get(group) ?? []) if (!found.has(bound.binding)) found.set(bound.binding, bound)
    }
    return [...found.values()].sort((a, b) => (order.get(a.binding) ?? 0) - (order.get(b.binding) ?? 0))
  }

  #indexed(namespace: string): BySubject {
    const known = this.#bySubject.get(namespace)
    if (known) return known
    const bindings = this.inNamespace(namespace)
    const users = new Map<string, BoundTo[]>()
    const groups = new Map<string, BoundTo[]>()
    for (const binding of bindings) {
      for (const subject of binding.subjects) {
        const account = subject.kind === 'ServiceAccount'
        const name = account ? userOfAccount(subject.namespace, subject.name) : subject.name
        const index = subject.kind === 'Group' ? groups : users
        const list = index.get(name)
        if (list) list.push({ binding, subject })
        else index.set(name, [{ binding, subject }])
      }
    }
    const made = { users, groups, order: new Map(bindings.map((binding, at) => [binding, at])) }
    this.#bySubject.set(namespace, made)
    return made
  }
}
