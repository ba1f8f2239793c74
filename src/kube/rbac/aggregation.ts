import { selects } from '../label-selector.ts'
import type { Role } from './binding.ts'
import type { PolicyRule } from './policy-rule.ts'

/**
 * The rules of aggregated ClusterRoles once the controller has settled (clusterroleaggregation of k8s.io/kubernetes): those of
 * every role that it selects, also through other aggregated ones, never of itself. What stands in its own `rules` is
 * overwritten, but stays where nothing is selected that has a rule. In a circle of roles, what ever came into it stays or goes
 * by chance: it counts.
 */
export class Aggregation {
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
    const keeps = (one: Role) => circular.has(one) || !this.#edges(one).some(other => filled.has(other))
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
      open.push(...this.#edges(one).toReversed())
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
    const open = new Map([...reached].map(role => [role, this.#edges(role).length]))
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
      for (const other of this.#edges(role)) {
        if (rest.has(other) && !(selecting.get(other) ?? []).some(one => rest.has(one))) top.push(other)
      }
    }
    return rest
  }

  #reversed(reached: ReadonlySet<Role>): ReadonlyMap<Role, readonly Role[]> {
    const selecting = new Map<Role, Role[]>()
    for (const role of reached) {
      for (const other of this.#edges(role)) {
        const list = selecting.get(other)
        if (list) list.push(role)
        else selecting.set(other, [role])
      }
    }
    return selecting
  }

  #edges(role: Role): readonly Role[] {
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
