import type { Rule } from './model/rule.ts'

/** Rules that are switched on, found by what they are asked about. */
export class RuleSet {
  readonly ofNodes: readonly Rule[]
  readonly ofRemoved: readonly Rule[]
  readonly ofClusters: readonly Rule[]
  readonly ofRepositories: readonly Rule[]
  readonly #rules: ReadonlyMap<string, Rule>
  readonly #ofEverybody: RulesByKind
  readonly #ofTenants: RulesByKind

  constructor(rules: readonly Rule[], disabled: readonly string[] = []) {
    const off = new Set(disabled)
    const on = rules.filter(rule => !off.has(rule.id))
    this.#rules = new Map(on.map(rule => [rule.id, rule]))
    this.ofNodes = on.filter(rule => rule.checkNode)
    this.ofRemoved = on.filter(rule => rule.checkRemoved)
    this.ofClusters = on.filter(rule => rule.checkCluster)
    this.ofRepositories = on.filter(rule => rule.checkRepository)
    this.#ofEverybody = byKind(on.filter(rule => rule.checkObject))
    this.#ofTenants = byKind(on.filter(rule => rule.checkObject ?? rule.checkTenantObject))
  }

  named(id: string): Rule | undefined {
    return this.#rules.get(id)
  }

  /** The rules that ask about objects of a kind which are applied for a tenant, or by the platform for itself. */
  ofKind(kind: string, isTenants: boolean): readonly Rule[] {
    const { every, kinds } = isTenants ? this.#ofTenants : this.#ofEverybody
    return kinds.get(kind) ?? every
  }
}

interface RulesByKind {
  readonly every: readonly Rule[]
  readonly kinds: ReadonlyMap<string, readonly Rule[]>
}

/** Rules that give way are asked last. */
function byKind(rules: readonly Rule[]): RulesByKind {
  const last = (one: Rule, other: Rule) => Number(one.givesWay ?? false) - Number(other.givesWay ?? false)
  const every = rules.filter(rule => rule.kinds === 'every')
  const kinds = new Map<string, Rule[]>()
  for (const rule of rules) {
    for (const kind of Array.isArray(rule.kinds) ? rule.kinds : []) {
      const list = kinds.get(kind) ?? [...every]
      kinds.set(kind, list)
      list.push(rule)
    }
  }
  for (const list of [every, ...kinds.values()]) list.sort(last)
  return { every, kinds }
}
