import { work } from '../../base/work.ts'
import { stringAt } from '../node.ts'
import { groupOf, idOf, type KubeObject } from '../object.ts'
import { type Binding, type BoundSubject, RBAC_GROUP, type RoleRef, readBinding } from './binding.ts'
import {
  type AccessRequest,
  forbidden,
  type PolicyRule,
  quote,
  ruleAllows,
  type UserInfo,
  userOfAccount,
} from './policy-rule.ts'
import { DEFAULT_POLICY, type DefaultPolicy, RoleStore, roleKey } from './role-store.ts'

/** One rule that a user holds: through which binding, as which of its subjects. The role is `binding.roleRef`. */
export interface Grant {
  readonly binding: Binding
  readonly subject: BoundSubject
  readonly rule: PolicyRule
}

type Decision =
  | { readonly allowed: true; readonly grant: Grant }
  | {
      readonly allowed: false
      /** The API server's own words, as `configmaps "a" is forbidden: User "u" cannot get resource "configmaps" ...`. */
      readonly message: string
      /** Bindings of this user whose role is not among the objects: what they would allow is not known. */
      readonly unresolved: readonly Binding[]
    }

/** What a user holds in a namespace: rules from ClusterRoleBindings first, then from its RoleBindings. */
interface Holding {
  readonly grants: readonly Grant[]
  /** What rules without names allow: by verb, group, resource and subresource. */
  readonly kept: Map<string, boolean>
  readonly unresolved: readonly Binding[]
}

/**
 * The RBAC authorizer of one cluster: the same answers as the API server's own (k8s.io/kubernetes
 * plugin/pkg/auth/authorizer/rbac) for the roles and bindings that it was made of. A binding whose role is not there grants
 * nothing, and is listed. It never throws, and its answers do not change.
 */
export class Authorizer {
  readonly bindings: BindingStore
  readonly #roles: RoleStore
  readonly #held = new Map<string, Holding>()
  readonly #grants = new Map<BoundTo, readonly Grant[]>()

  constructor(roles: RoleStore, bindings: BindingStore) {
    this.#roles = roles
    this.bindings = bindings
  }

  /** Whether a user may do something, through which grant, or the refusal. */
  authorize(user: UserInfo, request: AccessRequest): Decision {
    const namespace = 'nonResourceURL' in request ? '' : (request.namespace ?? '')
    const { grants, unresolved } = this.held(user, namespace)
    const grant = grants.find(({ rule }) => ruleAllows(rule, request))
    if (grant) return { allowed: true, grant }
    return { allowed: false, message: forbidden(user, request, unresolved.map(notFound)), unresolved }
  }

  /** Short for authorize(...).allowed. Rules without names answer for every object of a kind: that is kept. */
  allows(user: UserInfo, request: AccessRequest): boolean {
    if ('nonResourceURL' in request) return this.authorize(user, request).allowed
    const { verb, apiGroup, resource, subresource = '', namespace = '' } = request
    const { grants, kept } = this.held(user, namespace)
    const key = `${verb} ${apiGroup}/${resource}/${subresource}`
    let allowed = kept.get(key)
    if (allowed === undefined) {
      allowed = grants.some(({ rule }) => rule.resourceNames.length === 0 && ruleAllows(rule, request))
      kept.set(key, allowed)
    }
    return allowed || grants.some(({ rule }) => rule.resourceNames.length > 0 && ruleAllows(rule, request))
  }

  /** Whether a user may do everything with every resource. */
  allowsAll(user: UserInfo): boolean {
    const isAll = ({ verbs, apiGroups, resources, resourceNames }: PolicyRule) =>
      [verbs, apiGroups, resources].every(list => list.includes('*')) && resourceNames.length === 0
    return this.held(user, '').grants.some(({ rule }) => isAll(rule))
  }

  /** Everything that a user holds in a namespace ('': cluster-wide only). */
  held(user: UserInfo, namespace: string): Holding {
    work.authorized++
    const key = [namespace, user.name, ...user.groups].join('\0')
    const known = this.#held.get(key)
    if (known) return known
    const bound = [...this.bindings.of(user, ''), ...(namespace ? this.bindings.of(user, namespace) : [])]
    const unresolved: Binding[] = []
    const grants = bound.flatMap(one => {
      const found = this.#grantsOf(one)
      if (!found) unresolved.push(one.binding)
      return found ?? []
    })
    const holding = { grants, unresolved, kept: new Map() }
    this.#held.set(key, holding)
    return holding
  }

  /** What one binding gives to one of its subjects: the same for every user that it stands for. */
  #grantsOf(bound: BoundTo): readonly Grant[] | undefined {
    const known = this.#grants.get(bound)
    if (known) return known
    const { binding } = bound
    const grants = this.rulesOf(binding.roleRef, binding.namespace)?.map(rule => ({ ...bound, rule }))
    if (grants) this.#grants.set(bound, grants)
    return grants
  }

  /** The role that a binding was probably meant to name; undefined where its role is found, or where nothing is like it. */
  meantRole({ roleRef, namespace }: Binding): string | undefined {
    return this.rulesOf(roleRef, namespace) ? undefined : this.#roles.meant(roleRef, namespace)
  }

  /** Whether the rules of such a role are gathered from others. */
  isAggregated(roleRef: RoleRef, namespace: string): boolean {
    return this.#roles.isAggregated(roleRef, namespace)
  }

  /** The names of the ClusterRoles that another one gathers its rules from; undefined: they are its own. */
  gatheredBy(clusterRole: string): readonly string[] | undefined {
    return this.#roles.gatheredBy(clusterRole)
  }

  /** The rules of the role that a binding in `namespace` ('' for a ClusterRoleBinding) refers to; undefined: no such role. */
  rulesOf(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    return this.#roles.rulesOf(roleRef, namespace)
  }
}

function notFound({ roleRef }: Binding): string {
  return `${roleRef.kind.toLowerCase()}.${RBAC_GROUP} ${quote(roleRef.name)} not found`
}

/**
 * The authorizer of a cluster that holds `objects` (others than roles and bindings are passed over) and what every API
 * server brings. Cheap: objects are only sorted here, and read when a question needs them.
 */
export function authorizerOf(objects: Iterable<KubeObject>, defaults: DefaultPolicy = DEFAULT_POLICY): Authorizer {
  const roles = new Map<string, KubeObject[]>()
  const bindings = new Map<string, KubeObject[]>()
  for (const object of objects) {
    const kind = stringAt(object.root, ['kind'])
    if (kind !== 'Role' && kind !== 'ClusterRole' && kind !== 'RoleBinding' && kind !== 'ClusterRoleBinding') continue
    const { apiVersion, namespace, name } = idOf(object)
    if (groupOf(apiVersion) !== RBAC_GROUP) continue
    const own = kind.startsWith('Cluster') ? '' : namespace
    if (own === '' && !kind.startsWith('Cluster')) continue
    if (kind.endsWith('Binding')) push(bindings, own, object)
    else push(roles, roleKey(kind, own, name), object)
  }
  return new Authorizer(new RoleStore(roles, defaults.roles), new BindingStore(bindings, defaults.bindings))
}

function push(map: Map<string, KubeObject[]>, key: string, object: KubeObject): void {
  const list = map.get(key)
  if (list) list.push(object)
  else map.set(key, [object])
}

/** A binding that applies to a user, and the first of its subjects that does. */
interface BoundTo {
  readonly binding: Binding
  readonly subject: BoundSubject
}

interface BySubject {
  readonly users: Map<string, BoundTo[]>
  readonly groups: Map<string, BoundTo[]>
  readonly order: ReadonlyMap<Binding, number>
}

/** The bindings of one cluster, read by namespace when they are asked for, then found by subject. */
class BindingStore {
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
