import type { Fleet, FleetNode, FleetRepository } from '../../fleet/fleet.ts'
import { sameDeep } from '../../fleet/same-deep.ts'
import { sameButObjects } from '../../fleet/same-node.ts'
import type { Tree } from '../../git/tree.ts'
import type { Assessed } from '../assess-node.ts'
import { clusterPart, nodePart, type Part, removedPart, repositoryPart } from '../assessed-part.ts'
import { followed, JudgedRepositories } from '../judged-repositories.ts'
import { rules } from '../registry.ts'
import { RuleSet } from '../rule-set.ts'
import { type Asker, forget } from './recorded-index.ts'

/** A part that rules were asked about. */
export interface Asked extends Asker {
  readonly about: readonly unknown[]
  result: Assessed
}

/** Asks rules about a part. */
export type Ask = (part: Part, rules: RuleSet) => Asked

interface KnownRepository {
  readonly one: FleetRepository
  readonly earlier: Tree | undefined
  readonly asked: Asked
}

/**
 * What was said about the parts of the last fleet, in their order: whoever goes through the next one meets most of them
 * at the same place, and looks up only what is not there.
 */
export class Lane {
  readonly #parts = new Map<string, Asked>()
  #nodes: { readonly node: FleetNode; readonly asked: Asked }[] = []
  #repositories: KnownRepository[] = []
  #config: Fleet['config'] | undefined
  #disabled: readonly string[] | undefined
  #rules = new RuleSet([])

  /** What is said about every part of a fleet that something is said about, in order. */
  run(fleet: Fleet, before: Fleet | undefined, ask: Ask): Assessed[] {
    this.#prepare(fleet)
    const said: Assessed[] = []
    let count = 0
    const take = (asked: Asked) => {
      count++
      if (asked.result.findings.length > 0 || asked.result.failures.length > 0) said.push(asked.result)
    }
    const touched = this.#goThroughNodes(fleet, ask, take)
    const removed = removedFrom(before, fleet).map(node => this.#hold(removedPart(this.#rules, node), ask))
    const clusters = fleet.clusters.map(cluster => this.#hold(clusterPart(this.#rules, cluster), ask))
    for (const asked of [...removed, ...clusters]) take(asked)
    if (this.#rules.ofRepositories.length > 0) this.#goThroughRepositories(fleet, before, touched, ask, take)
    if (count < this.#parts.size) {
      const others = [...this.#nodes, ...this.#repositories].map(({ asked }) => asked)
      this.#keep(new Set([...removed, ...clusters, ...others]))
    }
    return said
  }

  /** The sources of nodes that are not those of the last fleet, before and now. */
  #goThroughNodes(fleet: Fleet, ask: Ask, take: (asked: Asked) => void): ReadonlySet<string> {
    const touched = new Set<string>()
    const last = this.#nodes
    this.#nodes = fleet.nodes.map((node, index) => {
      const known = last[index]
      if (known?.node === node && !known.asked.stale) {
        take(known.asked)
        return known
      }
      if (known) touched.add(followed(known.node.source))
      touched.add(followed(node.source))
      const asked = this.#hold(nodePart(this.#rules, node), ask)
      take(asked)
      return { node, asked }
    })
    for (const { node } of last.slice(fleet.nodes.length)) touched.add(followed(node.source))
    return touched
  }

  #goThroughRepositories(
    fleet: Fleet,
    before: Fleet | undefined,
    touched: ReadonlySet<string>,
    ask: Ask,
    take: (asked: Asked) => void,
  ): void {
    const repositories = new JudgedRepositories(fleet, before)
    const last = this.#repositories
    this.#repositories = fleet.repositories.map((one, index) => {
      const known = last[index]
      const earlier = repositories.earlier(index)
      const holds =
        known && isSame(known.one, one) && known.earlier === earlier && !known.asked.stale && !fleet.brokenSeals
      const asked =
        holds && !touched.has(followed(one))
          ? known.asked
          : this.#hold(repositoryPart(this.#rules, repositories.at(index)), ask)
      take(asked)
      return { one, earlier, asked }
    })
  }

  /** What was said about a part, where that still holds; else what is said now. */
  #hold(part: Part, ask: Ask): Asked {
    const known = this.#parts.get(part.id)
    if (known && !known.stale && sameAbout(known.about, part.about)) return known
    const asked = ask(part, this.#rules)
    if (known) forget(known)
    this.#parts.set(part.id, asked)
    return asked
  }

  #keep(live: ReadonlySet<Asked>): void {
    for (const [id, asked] of this.#parts) {
      if (live.has(asked)) continue
      forget(asked)
      this.#parts.delete(id)
    }
  }

  /** Everything is asked again where what holds for all of it is another thing. */
  #prepare({ config, disabledRules = [] }: Fleet): void {
    const sameConfig = this.#config !== undefined && sameDeep(this.#config, config)
    if (sameConfig && sameDeep(this.#disabled, disabledRules)) return
    this.#keep(new Set())
    this.#nodes = []
    this.#repositories = []
    this.#config = config
    this.#disabled = disabledRules
    this.#rules = new RuleSet(rules, disabledRules)
  }
}

const isSame = (a: FleetRepository, b: FleetRepository): boolean =>
  a === b || (a.tree === b.tree && followed(a) === followed(b))

function removedFrom(before: Fleet | undefined, { nodes }: Fleet): readonly FleetNode[] {
  if (!before || before.nodes.every((node, index) => nodes[index] === node || nodes[index]?.key === node.key)) return []
  const keys = new Set(nodes.map(node => node.key))
  return before.nodes.filter(node => !keys.has(node.key))
}

function sameAbout(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((one, index) => one === b[index] || sameRendered(one, b[index]))
}

/** Nodes are the same thing for rules where only the commit of their source is another. */
function sameRendered(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b || !('objects' in a) || !('objects' in b)) return false
  return a.objects === b.objects && sameButObjects(a as FleetNode, b as FleetNode)
}
