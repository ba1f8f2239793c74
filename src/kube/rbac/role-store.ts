import { probably } from '../../base/name-list.ts'
import { oncePer } from '../../base/once-per.ts'
import type { KubeObject } from '../object.ts'
import { selects } from '../read-fields.ts'
import { type Binding, type BoundSubject, type Role, type RoleRef, readRole } from './binding.ts'
import table from './default-policy.json' with { type: 'json' }
import type { PolicyRule } from './policy-rule.ts'

/** The roles of one cluster, read when they are asked for. */
export class RoleStore {
  readonly #objects: ReadonlyMap<string, readonly KubeObject[]>
  readonly #defaults: ReadonlyMap<string, Role>
  readonly #rules = new Map<string, readonly PolicyRule[] | undefined>()
  readonly #roles = new Map<string, Role | undefined>()
  #aggregation: Aggregation | undefined

  /** Both by `roleKey`. */
  constructor(objects: ReadonlyMap<string, readonly KubeObject[]>, defaults: ReadonlyMap<string, Role>) {
    this.#objects = objects
    this.#defaults = defaults
  }

  /** The rules that a roleRef of a binding in `namespace` ('' for a ClusterRoleBinding) stands for; undefined: not found. */
  rulesOf(ref: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    if (ref.kind !== 'ClusterRole' && !namespace) return undefined
    const key = roleKey(ref.kind, ref.kind === 'ClusterRole' ? '' : namespace, ref.name)
    if (!this.#rules.has(key)) this.#rules.set(key, this.#resolve(key))
    return this.#rules.get(key)
  }

  /** The name of a role of the same kind and place that one which is not found was probably meant to be. */
  meant({ kind, name }: RoleRef, namespace: string): string | undefined {
    const prefix = roleKey(kind, kind === 'ClusterRole' ? '' : namespace, '')
    const keys = [...this.#defaults.keys(), ...this.#objects.keys()].filter(key => key.startsWith(prefix))
    // a long name with another tenant's name in it is that tenant's role
    const most = Math.min(2, Math.max(1, name.length / 4))
    return probably(
      name,
      keys.map(key => key.slice(prefix.length)),
      most,
    )
  }

  /** Whether the rules of a role are gathered from others, of which more may be on the cluster than are rendered. */
  isAggregated(ref: RoleRef, namespace: string): boolean {
    const key = roleKey(ref.kind, ref.kind === 'ClusterRole' ? '' : namespace, ref.name)
    return this.#role(key)?.selectors !== undefined
  }

  /** The names of the ClusterRoles that another one gathers its rules from; undefined: they are its own. */
  gatheredBy(name: string): readonly string[] | undefined {
    const role = this.#role(roleKey('ClusterRole', '', name))
    return (
      role?.selectors &&
      this.#gathering()
        .selectedBy(role)
        .map(({ name }) => name)
    )
  }

  #resolve(key: string): readonly PolicyRule[] | undefined {
    const role = this.#role(key)
    if (!role?.selectors) return role?.rules
    return this.#gathering().rulesOf(role)
  }

  #gathering(): Aggregation {
    this.#aggregation ??= new Aggregation(this.#allClusterRoles())
    return this.#aggregation
  }

  #role(key: string): Role | undefined {
    if (!this.#roles.has(key)) this.#roles.set(key, this.#read(key))
    return this.#roles.get(key)
  }

  #read(key: string): Role | undefined {
    const written = (this.#objects.get(key) ?? []).map(readOnce).filter(role => role !== undefined)
    const standard = this.#defaults.get(key)
    const roles = standard ? [standard, ...written] : written
    return roles.length > 1 ? merged(roles) : roles[0]
  }

  #allClusterRoles(): Role[] {
    const keys = new Set([...this.#defaults.keys(), ...this.#objects.keys()])
    const inCluster = [...keys].filter(key => key.startsWith('ClusterRole/'))
    return inCluster.map(key => this.#role(key)).filter(role => role !== undefined)
  }
}

/** `<kind>/<namespace>/<name>`. */
export function roleKey(kind: string, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`
}

/** Objects are immutable, and the fleet before a change shares most of its own with the one after it. */
const readOnce = oncePer(readRole)

/**
 * One role that is written twice: what it can allow at some time. Two Kustomizations that render it take turns, and the API
 * server puts what a default role lacks back whenever it starts.
 */
function merged(roles: readonly Role[]): Role {
  const selectors = roles.flatMap(one => one.selectors ?? [])
  const labels = new Map(roles.flatMap(one => [...one.labels]))
  const role: Role = { ...roles[0]!, labels, rules: roles.flatMap(one => one.rules) }
  return selectors.length > 0 ? { ...role, selectors } : role
}

/**
 * The rules of aggregated ClusterRoles once the controller has settled (clusterroleaggregation of k8s.io/kubernetes): those of
 * every role that it selects, also through other aggregated ones, never of itself. What stands in its own `rules` is
 * overwritten, but stays where nothing is selected that has a rule. In a circle of roles, what ever came into it stays or goes
 * by chance: it counts.
 */
class Aggregation {
  readonly #byName: readonly Role[]
  readonly #selected = new Map<Role, readonly Role[]>()

  /** Every ClusterRole of the cluster, each name once. */
  constructor(all: readonly Role[]) {
    this.#byName = all.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Each rule once, in the order in which the controller gathers them: refusals list verbs in it. */
  rulesOf(role: Role): readonly PolicyRule[] {
    const reached = this.#reach(role)
    const circular = this.#below(this.#circular(reached))
    const filled = this.#filled(reached)
    const keeps = (one: Role) => circular.has(one) || !this.selectedBy(one).some(other => filled.has(other))
    const sources = [...reached].filter(one => (one.selectors ? keeps(one) : true))
    const rules = new Map<string, PolicyRule>()
    for (const source of sources) {
      for (const rule of source.rules) rules.set(JSON.stringify(rule), rule)
    }
    return [...rules.values()]
  }

  /** The role, and all that it selects at any distance. */
  #reach(role: Role): ReadonlySet<Role> {
    return this.#below(new Set([role]))
  }

  #below(roles: ReadonlySet<Role>): ReadonlySet<Role> {
    const reached = new Set<Role>()
    const open = [...roles]
    for (let one = open.pop(); one; one = open.pop()) {
      if (reached.has(one)) continue
      reached.add(one)
      open.push(...this.selectedBy(one).toReversed())
    }
    return reached
  }

  /** Those that have rules in the end: written ones, or selected ones. */
  #filled(reached: ReadonlySet<Role>): ReadonlySet<Role> {
    const selecting = this.#reversed(reached)
    const filled = new Set([...reached].filter(role => role.rules.length > 0))
    for (const role of filled) for (const other of selecting.get(role) ?? []) filled.add(other)
    return filled
  }

  /** Those in a circle (or between two circles): what is left when roles that select none of the rest are taken away. */
  #circular(reached: ReadonlySet<Role>): ReadonlySet<Role> {
    const selecting = this.#reversed(reached)
    const open = new Map([...reached].map(role => [role, this.selectedBy(role).length]))
    const done = [...reached].filter(role => open.get(role) === 0)
    for (const role of done) {
      for (const other of selecting.get(role) ?? []) {
        const left = (open.get(other) ?? 0) - 1
        open.set(other, left)
        if (left === 0) done.push(other)
      }
    }
    const acyclic = new Set(done)
    // a role above a circle is not a part of it: nothing in the rest selects it
    const rest = new Set([...reached].filter(role => !acyclic.has(role)))
    const top = [...rest].filter(role => !(selecting.get(role) ?? []).some(other => rest.has(other)))
    for (const role of top) {
      rest.delete(role)
      for (const other of this.selectedBy(role)) {
        if (rest.has(other) && !(selecting.get(other) ?? []).some(one => rest.has(one))) top.push(other)
      }
    }
    return rest
  }

  #reversed(reached: ReadonlySet<Role>): ReadonlyMap<Role, readonly Role[]> {
    const selecting = new Map<Role, Role[]>()
    for (const role of reached) {
      for (const other of this.selectedBy(role)) {
        const list = selecting.get(other)
        if (list) list.push(role)
        else selecting.set(other, [role])
      }
    }
    return selecting
  }

  /** Each role that it selects, in the order of their names. */
  selectedBy(role: Role): readonly Role[] {
    const known = this.#selected.get(role)
    if (known) return known
    const { selectors = [], name } = role
    const bySelector = selectors.flatMap(selector =>
      this.#byName.filter(other => other.name !== name && selects(selector, other.labels)),
    )
    const found = [...new Set(bySelector)]
    this.#selected.set(role, found)
    return found
  }
}

/** The roles (by `roleKey`) and bindings that an API server makes by itself. */
export interface DefaultPolicy {
  readonly roles: ReadonlyMap<string, Role>
  readonly bindings: readonly Binding[]
}

/** What Kubernetes 1.36 brings: held equal to a real API server's own by a test, which also writes the table. */
export const DEFAULT_POLICY: DefaultPolicy = {
  roles: new Map(table.roles.map(readDefaultRole).map(role => [roleKey(role.kind, role.namespace, role.name), role])),
  bindings: table.bindings.map(readBinding),
}

interface RoleRow {
  /** `Role <namespace>/<name>` or `ClusterRole <name>`. */
  readonly role: string
  readonly labels?: string
  /** Labels that it selects other roles by, one selector each. */
  readonly aggregates?: string
  readonly rules: readonly string[]
}

interface BindingRow {
  readonly binding: string
  readonly roleRef: string
  readonly subjects: readonly string[]
}

function readDefaultRole(row: RoleRow): Role {
  const labels = new Map([['kubernetes.io/bootstrapping', 'rbac-defaults'], ...pairs(row.labels)])
  const role = { ...readId(row.role), labels, rules: row.rules.map(readRule) } as Role
  const selectors = [...pairs(row.aggregates)].map(([key, value]) => [
    { key, operator: 'In' as const, values: [value] },
  ])
  return selectors.length > 0 ? { ...role, selectors } : role
}

/** `<verbs> <groups> <resources> [<names>]`, or `<verbs> <paths>`; lists with commas, the core group is empty. */
function readRule(text: string): PolicyRule {
  const [verbs = [], second = [], resources, resourceNames = []] = text.split(' ').map(part => part.split(','))
  if (!resources) return { verbs, apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: second }
  return { verbs, apiGroups: second, resources, resourceNames, nonResourceURLs: [] }
}

function readBinding(row: BindingRow): Binding {
  const [kind = '', name = ''] = row.roleRef.split(' ')
  const subjects = row.subjects.map(text => readId(text) as BoundSubject)
  return { ...readId(row.binding), roleRef: { kind, name }, subjects } as Binding
}

function readId(text: string): { readonly kind: string; readonly namespace: string; readonly name: string } {
  const [kind = '', path = ''] = text.split(' ')
  const slash = path.indexOf('/')
  return { kind, namespace: path.slice(0, Math.max(slash, 0)), name: path.slice(slash + 1) }
}

function pairs(text = ''): ReadonlyMap<string, string> {
  const labels = text.split(' ').filter(Boolean)
  return new Map(labels.map(label => [label.split('=')[0] ?? '', label.split('=')[1] ?? '']))
}
