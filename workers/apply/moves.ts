import { unlessRefused } from '../../src/base/errors.ts'
import { entryOf, type Inventory, type InventoryEntry } from '../../src/cluster/inventory.ts'
import { idOf } from '../../src/cluster/json.ts'
import type { Owner } from '../../src/cluster/ownership.ts'
import type { EvaluatedNode } from '../../src/rules/model/finding.ts'
import type { ApprovedNode } from '../../src/verdict/approve.ts'

interface Approving {
  readonly nodes: readonly EvaluatedNode[]
  readonly apply: readonly Pick<ApprovedNode, 'key'>[]
}

interface Declared {
  readonly cluster: string
  readonly nodes: ReadonlyMap<string, EvaluatedNode>
  readonly applied: ReadonlySet<string>
  /** By target and id; built on first use. */
  byPlace?: ReadonlyMap<string, readonly EvaluatedNode[]>
}

/** Which objects move from one Kustomization of a cluster to another in the revision set that is approved now. */
export class Moves {
  readonly #inventories: () => ReadonlyMap<string, Inventory>
  #declared: Declared = { cluster: '', nodes: new Map(), applied: new Set() }

  /** `inventories`: returns the present ones. */
  constructor(inventories: () => ReadonlyMap<string, Inventory>) {
    this.#inventories = inventories
  }

  /** Sets what is approved from now on. `cluster`: where the Kustomizations are. */
  replace(cluster: string, { nodes, apply }: Approving): void {
    const applied = new Set(apply.map(({ key }) => key))
    this.#declared = { cluster, nodes: new Map(nodes.map(node => [node.key, node])), applied }
  }

  /**
   * The node that declares an object which the node of its inventory does not declare: the object is left to it.
   * Undefined: it may be deleted. A node of another identity counts only if the rules allow it to have the object.
   */
  takerOf(
    { node, user, target }: Pick<Inventory, 'node' | 'user' | 'target'>,
    { id }: InventoryEntry,
  ): EvaluatedNode | undefined {
    const others = this.#declaring(target?.cluster ?? this.#declared.cluster, id).filter(({ key }) => key !== node)
    const { applied } = this.#declared
    return others.find(one => applied.has(one.key) || one.user === user || one.tenant === null || mayHave(one, id))
  }

  /** Whether there is such a node and its inventory does not have the object yet. */
  isAwaited(from: Parameters<Moves['takerOf']>[0], entry: InventoryEntry): boolean {
    const taker = this.takerOf(from, entry)
    if (taker === undefined) return false
    const has = this.#inventories()
      .get(taker.key)
      ?.entries.find(({ id }) => id === entry.id)
    return has?.uid === undefined
  }

  /**
   * Whether `to` may take over an object with the labels of `owner`: the inventory of that Kustomization has it, and
   * the Kustomization is approved and does not declare it, or is not part of what is approved.
   */
  isReleased(
    to: Pick<ApprovedNode, 'key' | 'cluster'>,
    { namespace, name }: Owner,
    { id, uid }: InventoryEntry,
  ): boolean {
    const { cluster, nodes, applied } = this.#declared
    const key = `${cluster}/${namespace}/${name}`
    const inventory = this.#inventories().get(key)
    if (key === to.key || inventory === undefined || (inventory.target?.cluster ?? cluster) !== to.cluster) return false
    const entry = inventory.entries.find(one => one.id === id)
    if (entry === undefined || (entry.uid !== undefined && entry.uid !== uid)) return false
    if (nodes.has(key)) return applied.has(key) && this.#declaring(to.cluster, id).every(one => one.key !== key)
    const above = presentAbove(inventory, nodes, this.#inventories())
    return above !== undefined && applied.has(above)
  }

  #declaring(at: string, id: string): readonly EvaluatedNode[] {
    this.#declared.byPlace ??= declarations([...this.#declared.nodes.values()])
    return this.#declared.byPlace.get(placeOf(at, id)) ?? []
  }
}

/** Why a prune of `from` leaves an object alone, for pruneObjects. */
export function keptFor(moves: Moves, from: Parameters<Moves['takerOf']>[0]) {
  return (entry: InventoryEntry): string | undefined => {
    const taker = moves.takerOf(from, entry)
    if (taker === undefined) return undefined
    const isNear = from.node.split('/')[1] === taker.namespace
    const to = isNear ? `Kustomization ${taker.namespace}/${taker.name}` : 'a Kustomization of another namespace'
    return `it moves to ${to}, which has not taken it over yet`
  }
}

/** The nearest ancestor of a removed node that still exists. */
function presentAbove(
  { parent }: Inventory,
  present: ReadonlyMap<string, unknown>,
  inventories: ReadonlyMap<string, Inventory>,
): string | undefined {
  const seen = new Set<string>()
  for (let key = parent; key !== null && !seen.has(key); key = inventories.get(key)?.parent ?? null) {
    if (present.has(key)) return key
    seen.add(key)
  }
  return undefined
}

/** Whether the rules evaluated all of the node, and none of them blocks this object. */
function mayHave({ failures, holes = [], findings }: EvaluatedNode, id: string): boolean {
  if (failures.length > 0 || holes.length > 0) return false
  const blocking = findings.filter(
    ({ level, state }) => level === 'violation' && state !== 'waived' && state !== 'fixed',
  )
  return blocking.every(({ object }) => entryIdOf(object) !== id)
}

/** The nodes that declare an object, in whatever version, by target and id. */
function declarations(nodes: readonly EvaluatedNode[]): ReadonlyMap<string, readonly EvaluatedNode[]> {
  const found = new Map<string, EvaluatedNode[]>()
  for (const node of nodes) {
    for (const text of node.objects) {
      const id = entryIdOf(idOf(JSON.parse(text)))
      if (id === undefined) continue
      const place = placeOf(node.cluster, id)
      found.set(place, [...(found.get(place) ?? []), node])
    }
  }
  return found
}

const placeOf = (cluster: string, id: string) => `${cluster} ${id}`

/** Undefined for an id that no inventory can hold. */
function entryIdOf(id: Parameters<typeof entryOf>[0]): string | undefined {
  return unlessRefused(undefined, () => entryOf(id).id)
}
