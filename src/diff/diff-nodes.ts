import type { ListNode, MapNode, Node, ScalarNode } from '../kube/node.ts'
import { elementSchema, fieldSchema, type Schema } from '../kustomize/patch/merge-schema.ts'
import { matchItems } from './match-items.ts'
import { type Sealing, sealingIn, sealingOf, UNSEALED } from './sealing.ts'

/** A field, or an item of a list by its index: in the list before, of an item that is added in the one after. */
export type PathStep = string | { readonly at: number; readonly label?: string }

/** One difference. Without `was` it is added, without `now` removed, without both the items come in another order. */
export interface Operation {
  readonly path: readonly PathStep[]
  readonly was?: Node
  readonly now?: Node
  readonly sealing: Sealing
}

/** A place in both versions of an object. */
interface Place {
  readonly path: readonly PathStep[]
  readonly schema: Schema
  readonly sealing: Sealing
}

/**
 * What makes `after` of `before`, by fields; items of lists are matched by what names them (see matchItems). A field that is
 * null is one that is not there, as for the API server. Deterministic: fields in the order of their names.
 */
export function diffNodes(before: Node, after: Node, schema: Schema): Operation[] {
  const walk = new Walk()
  walk.compare(before, after, { path: [], schema, sealing: UNSEALED })
  return walk.operations
}

class Walk {
  readonly operations: Operation[] = []

  compare(a: Node, b: Node, place: Place): void {
    if (a === b) return
    if (a.type === 'map' && b.type === 'map') this.#maps(a, b, place)
    else if (a.type === 'list' && b.type === 'list') this.#lists(a, b, place)
    else if (a.type !== 'scalar' || b.type !== 'scalar' || !sameScalar(a, b)) this.#note(place, { was: a, now: b })
  }

  #maps(a: MapNode, b: MapNode, { path, schema, sealing }: Place): void {
    const inside = sealingIn(sealing, [a, b])
    for (const name of [...new Set([...a.fields.keys(), ...b.fields.keys()])].sort()) {
      const [was, now] = [present(a, name), present(b, name)]
      const here = {
        path: [...path, name],
        schema: fieldSchema(schema, name),
        sealing: sealingOf(inside, name, path.length + 1),
      }
      if (was && now) this.compare(was, now, here)
      else if (was) this.#note(here, { was })
      else if (now) this.#note(here, { now })
    }
  }

  #lists(a: ListNode, b: ListNode, { path, schema, sealing }: Place): void {
    const name = path.findLast(step => typeof step === 'string') ?? ''
    const { pairs, removed, added, reordered } = matchItems(a.items, b.items, name, schema)
    const at = (index: number, label: string | undefined): Place => ({
      path: [...path, label === undefined ? { at: index } : { at: index, label }],
      schema: schema && elementSchema(schema),
      sealing,
    })
    for (const { before, after, label } of pairs) this.compare(a.items[before]!, b.items[after]!, at(before, label))
    for (const one of removed) this.#note(at(one.at, one.label), { was: a.items[one.at]! })
    for (const one of added) this.#note(at(one.at, one.label), { now: b.items[one.at]! })
    if (reordered) this.#note({ path, schema, sealing }, {})
  }

  #note({ path, sealing }: Place, sides: Pick<Operation, 'was' | 'now'>): void {
    this.operations.push({ path, sealing, ...sides })
  }
}

function present(map: MapNode, name: string): Node | undefined {
  const value = map.fields.get(name)?.value
  return value?.type === 'scalar' && value.value === null ? undefined : value
}

function sameScalar(a: ScalarNode, b: ScalarNode): boolean {
  if ((a.opaque === undefined) !== (b.opaque === undefined)) return false
  const isNumber = (value: unknown) => typeof value === 'number' || typeof value === 'bigint'
  return a.value === b.value || (isNumber(a.value) && isNumber(b.value) && String(a.value) === String(b.value))
}
