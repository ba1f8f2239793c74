import type { Cluster, Fleet, FleetNode } from '../fleet/fleet.ts'
import { sameDeep } from '../fleet/same-deep.ts'
import { sameButObjects } from '../fleet/same-node.ts'
import type { KubeObject } from '../kube/object.ts'
import { ObjectTable, type Rendered } from './object-table.ts'

/** A cluster without whose its namespaces are, which is asked one by one. */
export type ClusterFacts = Omit<Cluster, 'owners'>

/** What a fact is called; `changes` of a move name them. */
type FactName = string

interface Memo {
  readonly value: unknown
  readonly used: ReadonlySet<FactName>
}

/**
 * Everything that is known about a fleet, in pieces so small that a change touches few. Whoever works something out notes
 * down what it used, so that it is worked out again only when one of these is another after a change.
 */
export class Facts {
  #fleet: Fleet
  #clusters: ReadonlyMap<string, Cluster>
  #nodes: Map<string, FleetNode>
  #ranks: ReadonlyMap<string, number>
  readonly #tables = new Map<string, ObjectTable>()
  readonly #memos = new Map<string, Memo>()
  #used: Set<FactName> | undefined

  constructor(fleet: Fleet) {
    this.#fleet = fleet
    this.#clusters = new Map(fleet.clusters.map(cluster => [cluster.name, cluster]))
    this.#nodes = new Map(fleet.nodes.map(node => [node.key, node]))
    this.#ranks = ranksOf(fleet)
  }

  get fleet(): Fleet {
    return this.#fleet
  }

  /** Whether there is such a node; whoever works something out asks for the node itself. */
  has(key: string): boolean {
    return this.#nodes.has(key)
  }

  node(key: string): FleetNode | undefined {
    this.#used?.add(`node ${key}`)
    return this.#nodes.get(key)
  }

  /** What a node renders. */
  objects(key: string): readonly KubeObject[] {
    this.#used?.add(`objects ${key}`)
    return this.#nodes.get(key)?.objects ?? []
  }

  /** All of them, as far as they are more than what they render: any new node is another answer. */
  nodes(): readonly FleetNode[] {
    this.#used?.add('nodes')
    return this.#fleet.nodes
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

  /** Every namespace of a cluster that has an owner. */
  owners(cluster: string): ReadonlyMap<string, string> {
    this.#used?.add(`owners ${cluster}`)
    return this.#clusters.get(cluster)?.owners ?? new Map()
  }

  /** The objects of a cluster by one of the keys of `keysOf`. */
  rendered(cluster: string, key: string): readonly Rendered[] {
    this.#used?.add(`rendered ${cluster}\0${key}`)
    let table = this.#tables.get(cluster)
    if (!table) {
      table = new ObjectTable(this.#fleet.nodes.filter(node => node.cluster === cluster))
      this.#tables.set(cluster, table)
    }
    return table.of(key)
  }

  /** What `work` gives, worked out again only after something that it used has changed. */
  memo<T>(key: string, work: () => T): T {
    let memo = this.#memos.get(key)
    if (!memo) {
      const { value, used } = this.watch(work)
      memo = { value, used }
      this.#memos.set(key, memo)
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

  /** From now on these are the facts of `fleet`. The names of those that are others; undefined: any may be. */
  move(fleet: Fleet): ReadonlySet<FactName> | undefined {
    const before = this.#fleet
    if (before === fleet) return new Set()
    const changed = new Set<FactName>()
    const nodes = new Map(fleet.nodes.map(node => [node.key, node]))
    const inOrder = sameOrder(before, fleet, nodes)
    this.#fleet = fleet
    if (inOrder) this.#moveNodes(before, nodes, changed)
    this.#nodes = nodes
    this.#moveClusters(fleet, changed)
    if (!inOrder) {
      this.#ranks = ranksOf(fleet)
      this.#tables.clear()
      this.#memos.clear()
      return undefined
    }
    for (const [key, { used }] of this.#memos) if (isTouched(used, changed)) this.#memos.delete(key)
    return changed
  }

  #moveNodes(before: Fleet, nodes: Map<string, FleetNode>, changed: Set<FactName>): void {
    const pairs: [FleetNode | undefined, FleetNode | undefined][] = []
    for (const node of before.nodes) {
      const after = nodes.get(node.key)
      if (after !== node) pairs.push([node, after])
    }
    if (this.#fleet.nodes.length !== before.nodes.length || pairs.some(([, after]) => !after)) {
      this.#ranks = ranksOf(this.#fleet)
    }
    for (const node of this.#fleet.nodes) if (!this.#nodes.has(node.key)) pairs.push([undefined, node])
    const rank = (node: FleetNode) => this.#ranks.get(node.key) ?? -1
    for (const [was, is] of pairs) {
      const other = !was || !is || !sameButObjects(was, is)
      changed.add(`objects ${(was ?? is)!.key}`)
      if (other) changed.add('nodes').add(`node ${(was ?? is)!.key}`)
      for (const cluster of new Set([was?.cluster, is?.cluster])) {
        if (cluster === undefined) continue
        const table = this.#tables.get(cluster)
        for (const key of table?.replace(was, is, rank, other) ?? []) changed.add(`rendered ${cluster}\0${key}`)
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

const withoutOwners = ({ owners: _owners, ...rest }: Cluster): ClusterFacts => rest

function isTouched(used: ReadonlySet<FactName>, changed: ReadonlySet<FactName>): boolean {
  for (const name of used) if (changed.has(name)) return true
  return false
}

const ranksOf = ({ nodes }: Fleet): Map<string, number> => new Map(nodes.map((node, index) => [node.key, index]))

/** Whether the nodes that both have come in the same order. */
function sameOrder(before: Fleet, after: Fleet, nodes: ReadonlyMap<string, FleetNode>): boolean {
  const known = new Set(before.nodes.map(node => node.key))
  const kept = before.nodes.filter(node => nodes.has(node.key))
  let index = 0
  return after.nodes.every(node => !known.has(node.key) || kept[index++]?.key === node.key)
}
