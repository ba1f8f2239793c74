import { probably } from '../../message/closest.ts'
import type { KubeObject } from '../object.ts'
import { Aggregation } from './aggregation.ts'
import type { Role, RoleRef } from './binding.ts'
import type { PolicyRule } from './policy-rule.ts'
import { readRole } from './read-role.ts'

/** Objects are immutable, and the fleet before a change shares most of its own with the one after it. */
const READ = new WeakMap<KubeObject, Role | 'refused'>()

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

  #resolve(key: string): readonly PolicyRule[] | undefined {
    const role = this.#role(key)
    if (!role?.selectors) return role?.rules
    this.#aggregation ??= new Aggregation(this.#allClusterRoles())
    return this.#aggregation.rulesOf(role)
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

function readOnce(object: KubeObject): Role | undefined {
  const known = READ.get(object) ?? readRole(object) ?? 'refused'
  READ.set(object, known)
  return known === 'refused' ? undefined : known
}

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
