import type { Tree } from '../../git/tree.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { Cluster, Fleet, FleetNode, FleetRepository } from '../model/fleet.ts'
import type { FleetConfig } from '../model/fleet-config.ts'
import { sameButObjects, sameDeep, sameRetained } from '../model/same-node.ts'
import { ObjectTable, type Rendered } from './object-table.ts'
import { followed } from './repositories.ts'

/** A cluster without whose its namespaces are, which is asked one by one. */
export type ClusterFacts = Omit<Cluster, 'owners'>

const NOTHING: ReadonlySet<string> = new Set()

type TableName = 'rendered' | 'platform'
const IN_TABLE: Readonly<Record<TableName, (node: FleetNode) => boolean>> = {
  rendered: () => true,
  platform: ({ tenant }) => tenant === undefined,
}
const TABLES: readonly TableName[] = ['rendered', 'platform']

/** What a fact is called; `changes` of a move name them. */
type FactName = string

interface Memo {
  readonly value: unknown
  readonly used: ReadonlySet<FactName>
}

/**
 * Everything that is known about a fleet, in pieces so small that a change touches few. Each computation records
 * the facts it used, so that it runs again only when one of these differs after a change.
 */
export class Facts {
  #fleet: Fleet
  #clusters: ReadonlyMap<string, Cluster>
  #nodes: Map<string, FleetNode>
  #ranks: ReadonlyMap<string, number>
  readonly #tables = new Map<`${TableName} ${string}`, ObjectTable>()
  readonly #memos = new Map<string, Memo>()
  readonly #memosByFact = new Map<FactName, Set<string>>()
  #contents: Map<string, Tree> | undefined
  #used: Set<FactName> | undefined
  readonly #moves: boolean

  /** `moves`: other fleets will take the place of this one, so dependencies between facts are recorded. */
  constructor(fleet: Fleet, moves: boolean) {
    this.#moves = moves
    this.#fleet = fleet
    this.#clusters = new Map(fleet.clusters.map(cluster => [cluster.name, cluster]))
    this.#nodes = new Map(fleet.nodes.map(node => [node.key, node]))
    this.#ranks = ranksOf(fleet)
  }

  get fleet(): Fleet {
    return this.#fleet
  }

  /** Whether there is such a node; a computation asks for the node itself. */
  has(key: string): boolean {
    return this.#nodes.has(key)
  }

  node(key: string): FleetNode | undefined {
    this.#used?.add(`node ${key}`)
    return this.#nodes.get(key)
  }

  /** What a node renders, and what of its last complete build still counts. */
  objects(key: string): readonly KubeObject[] {
    this.#used?.add(`objects ${key}`)
    const node = this.#nodes.get(key)
    return node?.retained ? [...node.objects, ...node.retained] : (node?.objects ?? [])
  }

  /** All of them, as far as they are more than what they render: any new node is another answer. */
  nodes(): readonly FleetNode[] {
    this.#used?.add('nodes')
    return this.#fleet.nodes
  }

  /** The kinds that the fleet's file declares. */
  declaredKinds(): FleetConfig['kinds'] {
    this.#used?.add('kinds')
    return this.#fleet.config.kinds
  }

  /** The addresses that the fleet's file declares to be one repository. */
  aliases(): FleetConfig['aliases'] {
    this.#used?.add('aliases')
    return this.#fleet.config.aliases
  }

  /** What the fleet's file says after the change. */
  proposed(): FleetConfig {
    this.#used?.add('proposed')
    return this.#fleet.proposed
  }

  cluster(name: string): ClusterFacts | undefined {
    this.#used?.add(`cluster ${name}`)
    return this.#clusters.get(name)
  }

  clusterNames(): string[] {
    this.#used?.add('clusters')
    return [...this.#clusters.keys()].sort()
  }

  /** The tenant of a namespace. */
  owner(cluster: string, namespace: string): string | undefined {
    this.#used?.add(`owner ${cluster}\0${namespace}`)
    return this.#clusters.get(cluster)?.owners?.get(namespace)
  }

  /** Which sources and charts may not be read for the tenants that declare them; undefined: nothing is held back. */
  access(): Fleet['access'] {
    this.#used?.add('access')
    return this.#fleet.access
  }

  /** Every namespace of a cluster that has an owner. */
  owners(cluster: string): ReadonlyMap<string, string> {
    this.#used?.add(`owners ${cluster}`)
    return this.#clusters.get(cluster)?.owners ?? new Map()
  }

  /** The objects of a cluster by one of the keys of `keysOf`. */
  rendered(cluster: string, key: string): readonly Rendered[] {
    return this.#objectsOf('rendered', cluster, key)
  }

  /** Those of them that the platform renders: what a tenant changes bears on no answer that follows from these. */
  platform(cluster: string, key: string): readonly Rendered[] {
    return this.#objectsOf('platform', cluster, key)
  }

  #objectsOf(table: TableName, cluster: string, key: string): readonly Rendered[] {
    const name = `${table} ${cluster}` as const
    this.#used?.add(`${name}\0${key}`)
    let objects = this.#tables.get(name)
    if (!objects) {
      objects = new ObjectTable(this.#fleet.nodes.filter(node => node.cluster === cluster && IN_TABLE[table](node)))
      this.#tables.set(name, objects)
    }
    return objects.of(key)
  }

  /** What a repository holds at what a source follows (`ref` as refKey gives it); undefined if it was not read. */
  content(url: string, ref: string): Tree | undefined {
    this.#used?.add(`content ${url} ${ref}`)
    this.#contents ??= new Map(this.#fleet.repositories.map(one => [followed(one), one.tree]))
    return this.#contents.get(`${url} ${ref}`)
  }

  /** What the roots of the clusters follow. */
  ownSource(): Pick<FleetRepository, 'url' | 'ref'> | undefined {
    this.#used?.add('own source')
    return this.#fleet.repositories[0]
  }

  /** What `work` gives, worked out again only after something that it used has changed. */
  memo<T>(key: string, work: () => T): T {
    let memo = this.#memos.get(key)
    if (!memo) {
      memo = this.#moves ? this.watch(work) : { value: work(), used: NOTHING }
      this.#memos.set(key, memo)
      for (const name of memo.used) this.#note(name, key)
    }
    if (this.#used) for (const name of memo.used) this.#used.add(name)
    return memo.value as T
  }

  /** What `work` gives, with the names of the facts that it used. */
  watch<T>(work: () => T): { value: T; used: ReadonlySet<FactName> } {
    const outer = this.#used
    const used = new Set<FactName>()
    this.#used = used
    try {
      return { value: work(), used }
    } finally {
      this.#used = outer
    }
  }

  #note(name: FactName, memo: string): void {
    const memos = this.#memosByFact.get(name)
    if (memos) memos.add(memo)
    else this.#memosByFact.set(name, new Set([memo]))
  }

  /** From now on these are the facts of `fleet`. The names of those that are others; undefined: any may be. */
  move(fleet: Fleet): ReadonlySet<FactName> | undefined {
    const before = this.#fleet
    if (before === fleet) return new Set()
    const changed = new Set<FactName>()
    this.#fleet = fleet
    const inOrder = this.#moveNodes(before, changed)
    this.#moveClusters(fleet, changed)
    if (!sameDeep(before.config.kinds, fleet.config.kinds)) changed.add('kinds')
    if (!sameDeep(before.config.aliases, fleet.config.aliases)) changed.add('aliases')
    if (!sameDeep(before.proposed, fleet.proposed)) changed.add('proposed')
    for (const name of changedContents(before.repositories, fleet.repositories)) changed.add(name)
    if (before.repositories !== fleet.repositories) this.#contents = undefined
    if (before.access !== fleet.access) changed.add('access')
    if (!inOrder) {
      this.#tables.clear()
      this.#memos.clear()
      this.#memosByFact.clear()
      return undefined
    }
    for (const name of changed) {
      for (const key of this.#memosByFact.get(name) ?? []) this.#memos.delete(key)
      this.#memosByFact.delete(name)
    }
    return changed
  }

  /** False where nodes that were there before come in another order. */
  #moveNodes(before: Fleet, changed: Set<FactName>): boolean {
    const { nodes } = this.#fleet
    const isAligned = nodes.length === before.nodes.length && nodes.every((node, i) => sameKey(node, before.nodes[i]!))
    if (!isAligned) {
      const known = this.#nodes
      this.#nodes = new Map(nodes.map(node => [node.key, node]))
      this.#ranks = ranksOf(this.#fleet)
      if (!sameOrder(before, this.#fleet, this.#nodes)) return false
      for (const node of before.nodes) if (!this.#nodes.has(node.key)) this.#replace(node, undefined, changed)
      for (const node of nodes) this.#replace(known.get(node.key), node, changed)
      return true
    }
    for (let index = 0; index < nodes.length; index++) {
      const node = nodes[index]!
      if (node === before.nodes[index]) continue
      this.#nodes.set(node.key, node)
      this.#replace(before.nodes[index], node, changed)
    }
    return true
  }

  #replace(was: FleetNode | undefined, is: FleetNode | undefined, changed: Set<FactName>): void {
    if (was === is) return
    const rank = (node: FleetNode) => this.#ranks.get(node.key) ?? -1
    const other = !was || !is || !sameButObjects(was, is)
    // no answer depends on the commit of equal content
    if (!other && was.objects === is.objects && sameRetained(was, is)) return
    changed.add(`objects ${(was ?? is)!.key}`)
    if (other) changed.add('nodes').add(`node ${(was ?? is)!.key}`)
    for (const cluster of new Set([was?.cluster, is?.cluster])) {
      if (cluster === undefined) continue
      for (const table of TABLES) {
        const name = `${table} ${cluster}` as const
        const [before, after] = [was, is].map(node => (node && IN_TABLE[table](node) ? node : undefined))
        const keys = this.#tables.get(name)?.replace(before, after, rank, other) ?? []
        for (const key of keys) changed.add(`${name}\0${key}`)
      }
    }
  }

  #moveClusters(fleet: Fleet, changed: Set<FactName>): void {
    const before = this.#clusters
    this.#clusters = new Map(fleet.clusters.map(cluster => [cluster.name, cluster]))
    for (const name of new Set([...before.keys(), ...this.#clusters.keys()])) {
      const [was, is] = [before.get(name), this.#clusters.get(name)]
      if (was === is) continue
      if (!was || !is) changed.add('clusters')
      if (!was || !is || !sameDeep(withoutOwners(was), withoutOwners(is))) changed.add(`cluster ${name}`)
      const owners = [was?.owners ?? new Map(), is?.owners ?? new Map()] as const
      for (const namespace of new Set(owners.flatMap(one => [...one.keys()]))) {
        if (owners[0].get(namespace) === owners[1].get(namespace)) continue
        changed.add(`owners ${name}`).add(`owner ${name}\0${namespace}`)
      }
    }
  }
}

const sameKey = (a: FleetNode, b: FleetNode): boolean => a === b || a.key === b.key

const withoutOwners = ({ owners: _owners, ...rest }: Cluster): ClusterFacts => rest

const ranksOf = ({ nodes }: Fleet): Map<string, number> => new Map(nodes.map((node, index) => [node.key, index]))

/** Whether the nodes that both have come in the same order. */
function sameOrder(before: Fleet, after: Fleet, nodes: ReadonlyMap<string, FleetNode>): boolean {
  const known = new Set(before.nodes.map(node => node.key))
  const kept = before.nodes.filter(node => nodes.has(node.key))
  let index = 0
  return after.nodes.every(node => !known.has(node.key) || kept[index++]?.key === node.key)
}

/** Names of the facts about content that are others: `content <url> <ref>`, and `own source`. */
function* changedContents(before: readonly FleetRepository[], after: readonly FleetRepository[]): Generator<string> {
  if (before === after) return
  const [old, young] = [new Map<string, Tree>(), new Map<string, Tree>()]
  for (let index = 0; index < Math.max(before.length, after.length); index++) {
    const [was, is] = [before[index], after[index]]
    if (was === is) continue
    if (was) old.set(followed(was), was.tree)
    if (is) young.set(followed(is), is.tree)
  }
  for (const key of new Set([...old.keys(), ...young.keys()])) {
    if (old.get(key) !== young.get(key)) yield `content ${key}`
  }
  const [own, now] = [before[0], after[0]]
  if (own !== now && (!own || !now || followed(own) !== followed(now))) yield 'own source'
}
