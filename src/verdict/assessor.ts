import { work } from '../base/work.ts'
import { EvaluatedRepositories, followed } from '../fleet/facts/repositories.ts'
import type { Fleet, FleetNode, FleetRepository } from '../fleet/model/fleet.ts'
import { sameButObjects, sameDeep, sameRetained } from '../fleet/model/same-node.ts'
import type { Watch } from '../fleet/rendering/render-memory.ts'
import type { KubeObject } from '../kube/object.ts'
import { type RuleContext, RuleSet } from '../rules/model/rule.ts'
import { rules } from '../rules/registry.ts'
import {
  type AssessablePart,
  type Assessed,
  type Assessment,
  assessmentOf,
  clusterPart,
  type KeepFound,
  nodePart,
  removedPart,
  repositoryPart,
} from './assess.ts'
import { type Asker, forget, type Question, RecordedIndex } from './recorded-index.ts'

/**
 * Assesses states of one fleet one after the other, as `assess` does: rules run again only for what changed, and for what
 * follows from a changed answer.
 */
export class Assessor {
  /** Receives progress. */
  watch: Watch | undefined
  readonly #alone = new KeptAnswers()
  readonly #compared = new KeptAnswers()
  #base: RecordedIndex | undefined
  #head: RecordedIndex | undefined

  assess(fleet: Fleet, before?: Fleet): Assessment {
    const base = moved(this.#base, before ?? fleet)
    this.#base = base
    if (!before) return this.#run(this.#alone, fleet, undefined, base, undefined)
    const head = moved(this.#head, fleet)
    this.#head = head
    return this.#run(this.#compared, fleet, before, head, base)
  }

  #run(
    lane: KeptAnswers,
    fleet: Fleet,
    before: Fleet | undefined,
    index: RecordedIndex,
    base: RecordedIndex | undefined,
  ): Assessment {
    const context: RuleContext = { index: index.view, config: fleet.config, ...(base ? { before: base.view } : {}) }
    const indexes = base ? [index, base] : [index]
    const askAs = <T>(asker: Asker | undefined, after: Asker | undefined, ask: () => T): T => {
      for (const one of indexes) one.asker = asker
      try {
        return ask()
      } finally {
        for (const one of indexes) one.asker = after
      }
    }
    const assessed = lane.run(fleet, before, (part, asked, known) => {
      work.asked++
      this.watch?.running(part.node ?? '')
      const keep: KeepFound = (name, objects, ask) =>
        asked.group(name, objects, known, group => askAs(group, asked, ask)).found
      return askAs(asked, undefined, () => part.assess(context, keep))
    })
    return assessmentOf(fleet, assessed)
  }
}

function moved(index: RecordedIndex | undefined, fleet: Fleet): RecordedIndex {
  if (!index) return new RecordedIndex(fleet)
  index.move(fleet)
  return index
}

/** A part that rules were asked about. */
class Asked implements Asker {
  readonly questions = new Set<Question>()
  readonly about: readonly unknown[]
  result: Assessed = { findings: [], failures: [] }
  stale = false
  /** Its position, if it is one of a row. */
  place = -1
  readonly groups = new Map<string, Group>()
  readonly #spoiled: Set<Asked>
  #like: boolean | undefined

  /** `spoiled`: where to note a changed answer. */
  constructor(about: readonly unknown[], spoiled: Set<Asked>) {
    this.about = about
    this.#spoiled = spoiled
  }

  spoil(): void {
    this.stale = true
    this.#spoiled.add(this)
  }

  get isSilent(): boolean {
    return isSilent(this.result)
  }

  /** What is found in some of its objects: what `known` found in the same ones, if that is still valid. */
  group(
    name: string,
    objects: Group['objects'],
    known: Asked | undefined,
    ask: (group: Group) => Group['found'],
  ): Group {
    const before = known?.groups.get(name)
    const isValid = before !== undefined && !before.stale && sameItems(before.objects, objects)
    const group = isValid && this.#isLike(known!) ? before : new Group(objects, this)
    this.groups.set(name, group)
    if (group !== before) group.found = ask(group)
    return group
  }

  /** Whether what its objects are asked about is the same but for the other objects. */
  #isLike({ about: [was] }: Asked): boolean {
    const [one, other] = [was, this.about[0]] as [FleetNode, FleetNode]
    this.#like ??= sameRetained(one, other) && sameButObjects(one, other)
    return this.#like
  }

  /** It and its groups, as far as none other holds them, ask nothing any more. */
  forget(): void {
    forget(this)
    for (const group of this.groups.values()) if (group.holder === this) forget(group)
  }
}

/** Some objects of a node that rules were asked about together. */
class Group implements Asker {
  readonly questions = new Set<Question>()
  readonly objects: readonly KubeObject[]
  found: readonly Assessed[] = []
  holder: Asked
  #isSpoiled = false

  constructor(objects: readonly KubeObject[], holder: Asked) {
    this.objects = objects
    this.holder = holder
  }

  /** What could not be looked at depends on the node as a whole. */
  get stale(): boolean {
    return this.#isSpoiled || this.found.some(({ failures }) => failures.length > 0)
  }

  spoil(): void {
    this.#isSpoiled = true
    this.holder.spoil()
  }
}

const isSilent = ({ findings, failures }: Assessed) => findings.length === 0 && failures.length === 0

const sameItems = (a: readonly unknown[], b: readonly unknown[]) =>
  a.length === b.length && a.every((one, index) => one === b[index])

/** Parts of one kind at the places of a list. */
class Row<T> {
  items: readonly T[] = []
  asked: Asked[] = []
  /** Places of those that may have findings. */
  #speaking = new Set<number>()

  /** Goes on to other items, looking at those that are not the very same at their place, and at those at `others`. */
  move(items: readonly T[], others: ReadonlySet<number> | 'all', ask: (item: T, index: number) => Asked): void {
    const last = this.items
    if (items.length !== last.length) this.clear()
    const all = others === 'all' || this.asked.length === 0
    // counted: of most items nothing is looked at but whether they are the same
    for (let index = 0; index < items.length; index++) {
      const item = items[index]!
      if (!all && item === last[index] && !others.has(index)) continue
      const asked = ask(item, index)
      asked.place = index
      this.asked[index] = asked
      if (asked.isSilent) this.#speaking.delete(index)
      else this.#speaking.add(index)
    }
    this.items = items
  }

  /** In order. */
  speaking(): Asked[] {
    return [...this.#speaking].sort((a, b) => a - b).map(index => this.asked[index]!)
  }

  clear(): void {
    this.items = []
    this.asked = []
    this.#speaking.clear()
  }
}

/** Asks rules about a part, noting its questions as those of `asked`; `known`: what was asked about it before. */
type Ask = (part: AssessablePart, asked: Asked, known: Asked | undefined) => Assessed

/**
 * The findings about the parts of the last fleet, in their order: a pass through the next one meets most of them
 * at the same place, and looks only at those that are others or whose answers are.
 */
class KeptAnswers {
  readonly #parts = new Map<string, Asked>()
  readonly #nodes = new Row<FleetNode>()
  readonly #repositories = new Row<FleetRepository>()
  readonly #readers = new Places<FleetNode>(({ source }) => followed(source))
  readonly #followed = new Places<FleetRepository>(followed)
  #before: readonly FleetRepository[] = []
  readonly #spoiled = new Set<Asked>()
  #config: Fleet['config'] | undefined
  #disabled: readonly string[] | undefined
  #rules = new RuleSet([])

  /** The findings about every part of a fleet that has some, in order. */
  run(fleet: Fleet, before: Fleet | undefined, ask: Ask): Assessed[] {
    this.#prepare(fleet)
    const touched = this.#goThroughNodes(fleet, ask)
    const removed = removedFrom(before, fleet).map(node => this.#hold(removedPart(this.#rules, node), ask))
    const clusters = fleet.clusters.map(cluster => this.#hold(clusterPart(this.#rules, cluster), ask))
    if (this.#rules.ofRepositories.length > 0) this.#goThroughRepositories(fleet, before, touched, ask)
    this.#spoiled.clear()
    const others = [...removed, ...clusters]
    const rows = [this.#nodes.asked, this.#repositories.asked] as const
    if (rows[0].length + rows[1].length + others.length < this.#parts.size) {
      this.#keep(new Set([...others, ...rows[0], ...rows[1]]))
    }
    const speaking = [...this.#nodes.speaking(), ...others, ...this.#repositories.speaking()]
    return speaking.filter(asked => !asked.isSilent).map(asked => asked.result)
  }

  /** The sources of nodes that are not those of the last fleet, before and now. */
  #goThroughNodes({ nodes }: Fleet, ask: Ask): ReadonlySet<string> {
    const touched = new Set<string>()
    const last = this.#nodes.items
    this.#nodes.move(nodes, this.#spoiledPlaces(), (node, index) => {
      const before = last[index]
      if (before) touched.add(followed(before.source))
      touched.add(followed(node.source))
      return this.#hold(nodePart(this.#rules, node), ask)
    })
    for (const { source } of last.slice(nodes.length)) touched.add(followed(source))
    return touched
  }

  #goThroughRepositories(fleet: Fleet, before: Fleet | undefined, touched: ReadonlySet<string>, ask: Ask): void {
    this.#readers.move(fleet.nodes)
    this.#followed.move(fleet.repositories)
    const readersOf = (key: string) => this.#readers.of(key).map(place => fleet.nodes[place]!)
    const repositories = new EvaluatedRepositories(fleet, before, readersOf)
    const earlier = before?.repositories ?? []
    const last = this.#before
    this.#before = earlier
    // a list of another length may hold something else everywhere
    const all = earlier.length !== last.length || fleet.brokenSeals !== undefined
    const keys = new Set(touched)
    for (let index = 0; index < earlier.length && !all; index++) {
      const [one, was] = [earlier[index]!, last[index]!]
      if (one !== was) keys.add(followed(one)).add(followed(was))
    }
    const others = this.#spoiledPlaces()
    for (const key of keys) for (const place of this.#followed.of(key)) others.add(place)
    this.#repositories.move(fleet.repositories, all ? 'all' : others, (_one, index) =>
      this.#hold(repositoryPart(this.#rules, repositories.at(index)), ask),
    )
  }

  /** Places of parts that got another answer, in any row. */
  #spoiledPlaces(): Set<number> {
    return new Set([...this.#spoiled].map(asked => asked.place))
  }

  /** The earlier findings about a part where they are still valid, else new ones. */
  #hold(part: AssessablePart, ask: Ask): Asked {
    const known = this.#parts.get(part.id)
    if (known && !known.stale && sameAbout(known.about, part.about)) return known
    const asked = new Asked(part.about, this.#spoiled)
    asked.result = ask(part, asked, known)
    for (const group of asked.groups.values()) group.holder = asked
    known?.forget()
    this.#parts.set(part.id, asked)
    return asked
  }

  #keep(live: ReadonlySet<Asked>): void {
    for (const [id, asked] of this.#parts) {
      if (live.has(asked)) continue
      asked.forget()
      this.#parts.delete(id)
    }
  }

  /** Everything is asked again where something that applies to all of it changed. */
  #prepare({ config, disabledRules = [] }: Fleet): void {
    const sameConfig = this.#config !== undefined && sameDeep(this.#config, config)
    if (sameConfig && sameDeep(this.#disabled, disabledRules)) return
    this.#keep(new Set())
    this.#nodes.clear()
    this.#repositories.clear()
    this.#config = config
    this.#disabled = disabledRules
    this.#rules = new RuleSet(rules, disabledRules)
  }
}

function removedFrom(before: Fleet | undefined, { nodes }: Fleet): readonly FleetNode[] {
  if (!before || before.nodes.every((node, index) => nodes[index] === node || nodes[index]?.key === node.key)) return []
  const keys = new Set(nodes.map(node => node.key))
  return before.nodes.filter(node => !keys.has(node.key))
}

function sameAbout(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((one, index) => one === b[index] || sameRendered(one, b[index]))
}

/** For rules, nodes are the same where only the commit of their source differs. */
function sameRendered(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b || !('objects' in a) || !('objects' in b)) return false
  const [one, other] = [a as FleetNode, b as FleetNode]
  return one.objects === other.objects && sameRetained(one, other) && sameButObjects(one, other)
}

/** Positions in a list by key, for lists of which few items change from one to the next. */
class Places<T> {
  readonly #keyOf: (item: T) => string
  #items: readonly T[] = []
  #places = new Map<string, number[]>()

  constructor(keyOf: (item: T) => string) {
    this.#keyOf = keyOf
  }

  /** Goes on to another list. */
  move(items: readonly T[]): void {
    const last = this.#items
    this.#items = items
    if (items !== last && !this.#isAligned(last)) this.#places = this.#placesOf(items)
  }

  /** In order. */
  of(key: string): readonly number[] {
    return this.#places.get(key) ?? []
  }

  /** Whether the same keys are at the same positions as before. */
  #isAligned(last: readonly T[]): boolean {
    const items = this.#items
    if (items.length !== last.length) return false
    // counted: of most items nothing is looked at but whether they are the same
    for (let place = 0; place < items.length; place++) {
      const [item, before] = [items[place]!, last[place]!]
      if (item !== before && this.#keyOf(item) !== this.#keyOf(before)) return false
    }
    return true
  }

  #placesOf(items: readonly T[]): Map<string, number[]> {
    const places = new Map<string, number[]>()
    for (const [place, item] of items.entries()) {
      const key = this.#keyOf(item)
      const list = places.get(key)
      if (list) list.push(place)
      else places.set(key, [place])
    }
    return places
  }
}
