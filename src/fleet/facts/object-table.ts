import { withEmbedded } from '../../kube/capabilities/embedded-objects.ts'
import { groupOf, idOf, type KubeObject, type ObjectId } from '../../kube/object.ts'
import type { FleetNode } from '../model/fleet.ts'

/** An object, and the node that renders it. Other objects of that node are asked from the index. */
export interface Rendered {
  readonly node: FleetNode
  readonly object: KubeObject
}

const NONE: readonly Rendered[] = []

/** What the nodes of one cluster render, by kind, namespace and name; lists are in the order of the nodes. */
export class ObjectTable {
  readonly #lists = new Map<string, Rendered[]>()

  constructor(nodes: Iterable<FleetNode>) {
    for (const node of nodes) {
      for (const object of objectsOf(node)) {
        const rendered = { node, object }
        for (const key of keysOf(object)) this.#push(key, rendered)
      }
    }
  }

  /** The list of one key of `keysOf`. */
  of(key: string): readonly Rendered[] {
    return this.#lists.get(key) ?? NONE
  }

  /**
   * Puts what `after` renders in the place of what `before` did; either may be absent. `rank` gives the order of nodes,
   * of all that the lists hold: those that are gone are taken out first.
   * The keys whose lists hold other objects now; all of them with `every`, because the node itself is another one.
   */
  replace(before: FleetNode | undefined, after: FleetNode | undefined, rank: Rank, every: boolean): string[] {
    const [old, young] = [byKey(before), byKey(after)]
    const changed: string[] = []
    for (const key of new Set([...old.keys(), ...young.keys()])) {
      const [was, is] = [old.get(key) ?? [], young.get(key) ?? []]
      if (every || was.length !== is.length || was.some((object, index) => object !== is[index])) changed.push(key)
      // a copy: holders of the old list compare it with the new one
      const list = after ? [...this.of(key)] : this.of(key).filter(({ node }) => node.key !== before?.key)
      if (after) {
        const added = is.map(object => ({ node: after, object }))
        list.splice(placeOf(list, rank(after), rank), was.length, ...added)
      }
      if (list.length > 0) this.#lists.set(key, list)
      else this.#lists.delete(key)
    }
    return changed
  }

  #push(key: string, value: Rendered): void {
    const list = this.#lists.get(key)
    if (list) list.push(value)
    else this.#lists.set(key, [value])
  }
}

/** What a node renders or rendered when it last built as a whole, and what controllers make of it for a tenant. */
function* objectsOf({ objects, retained = [], tenant }: FleetNode): Iterable<KubeObject> {
  for (const object of [...objects, ...retained]) {
    if (tenant === undefined) yield object
    else yield* withEmbedded(object)
  }
}

/** Where the entries of a node of this rank stand, or would stand. */
function placeOf(list: readonly Rendered[], wanted: number, rank: Rank): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (rank(list[middle]!.node) < wanted) low = middle + 1
    else high = middle
  }
  return low
}

/** Position of a node in its fleet. */
type Rank = (node: FleetNode) => number

/** The key of objects of any kind that SOPS encrypted. */
export const ENCRYPTED = 'encrypted'

/** The keys that an object is found by: its kind, with its namespace, and with its name too; `ENCRYPTED` where it is. */
export function keysOf(object: KubeObject): [kind: string, namespace: string, name: string, ...encrypted: string[]] {
  const { apiVersion, kind, namespace, name } = idOf(object)
  const ofKind = `${groupOf(apiVersion)}/${kind}`
  const inNamespace = `${ofKind}\0${namespace}`
  return [ofKind, inNamespace, `${inNamespace}\0${name}`, ...(object.sops ? [ENCRYPTED] : [])]
}

function byKey(node: FleetNode | undefined): Map<string, KubeObject[]> {
  const lists = new Map<string, KubeObject[]>()
  for (const object of node ? objectsOf(node) : []) {
    for (const key of keysOf(object)) {
      const list = lists.get(key)
      if (list) list.push(object)
      else lists.set(key, [object])
    }
  }
  return lists
}

/**
 * How objects are found by texts that they hold: `of` gives the texts of one. The same id is the same naming, and one that
 * reads more than the object and whose it is needs facts of its own.
 */
export interface Naming {
  readonly id: string
  readonly of: (rendered: Rendered) => Iterable<string>
}

/** A naming for objects of these kinds. */
export interface NamingOfKinds extends Naming {
  readonly kinds: readonly string[]
}

/** Objects by the texts that a naming gives, each once for a text. */
export function byText(all: readonly Rendered[], { of }: Naming): ReadonlyMap<string, readonly Rendered[]> {
  const found = new Map<string, Rendered[]>()
  for (const one of all) {
    for (const text of new Set(of(one))) {
      const list = found.get(text)
      if (list) list.push(one)
      else found.set(text, [one])
    }
  }
  return found
}

/** `<group>/<Kind>` of an object. */
export function kindOf(object: KubeObject): string {
  return kindOfId(idOf(object))
}

/** The same of its identity. */
export function kindOfId({ apiVersion, kind }: ObjectId): string {
  return `${groupOf(apiVersion)}/${kind}`
}
