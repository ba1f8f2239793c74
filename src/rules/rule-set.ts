import type { Rule } from './rule.ts'

/** Rules that are switched on, found by what they are asked about. */
export class RuleSet {
  readonly ofNodes: readonly Rule[]
  readonly ofRemoved: readonly Rule[]
  readonly ofClusters: readonly Rule[]
  readonly ofRepositories: readonly Rule[]
  readonly #rules: ReadonlyMap<string, Rule>
  readonly #every: readonly Rule[]
  readonly #byKind = new Map<string, Rule[]>()

  constructor(rules: readonly Rule[], disabled: readonly string[] = []) {
    const off = new Set(disabled)
    const on = rules.filter(rule => !off.has(rule.id))
    this.#rules = new Map(on.map(rule => [rule.id, rule]))
    this.ofNodes = on.filter(rule => rule.checkNode)
    this.ofRemoved = on.filter(rule => rule.checkRemoved)
    this.ofClusters = on.filter(rule => rule.checkCluster)
    this.ofRepositories = on.filter(rule => rule.checkRepository)
    this.#every = on.filter(rule => rule.kinds === 'every')
    for (const rule of on) {
      for (const kind of Array.isArray(rule.kinds) ? rule.kinds : []) {
        const list = this.#byKind.get(kind) ?? [...this.#every]
        this.#byKind.set(kind, list)
        list.push(rule)
      }
    }
  }

  named(id: string): Rule | undefined {
    return this.#rules.get(id)
  }

  /** The rules that ask about objects of a kind. */
  ofKind(kind: string): readonly Rule[] {
    return this.#byKind.get(kind) ?? this.#every
  }
}
