import type { Hole } from '../../kube/hole.ts'
import type { Field, ListNode, MapNode, Node } from '../../kube/node.ts'
import type { Tolerance } from '../tolerance.ts'

/** How the parts of a file are read one by one. */
export interface PartReader {
  /** Reads the file as if it had these fields only. Throws what reading it throws. */
  readonly read: (root: MapNode) => void
  readonly tolerance: Tolerance
  /** Text of all that decides what a part would have given. */
  readonly hides: (part: unknown) => string
  /** Stands for the entries before one that fails, so that its place is told as it is. */
  readonly filler?: (name: string) => Node
}

/** Fields whose entries only add objects. */
const ADDING = new Set(['resources', 'bases', 'helmCharts', 'helmChartInflationGenerator', 'crds'])

/**
 * The map without the entries of lists, and the fields that are no lists, with which it cannot be read. `always` has the
 * fields that are read beside each of them.
 */
export function keepReadable(root: MapNode, always: MapNode, reader: PartReader): MapNode {
  const { tolerance, filler } = reader
  const fields = new Map<string, Field>()
  for (const [name, field] of root.fields) {
    const { value } = field
    const readWith = (items: readonly Node[]) => reader.read(withItems(always, name, field, items))
    const keep = (part: Node, step: () => void) => isKept(name, part, step, reader)
    // where the field itself is unknown, its entries are one part
    if (value.type !== 'list' || value.items.length === 0 || tolerance.takesOut(failureOf(() => readWith([])))) {
      if (keep(value, () => reader.read(withOnly(always, name, field)))) fields.set(name, field)
      continue
    }
    const items = value.items.filter((item, index) => {
      if (!tolerance.takesOut(failureOf(() => readWith([item])))) return true
      const before = filler ? Array<Node>(index).fill(filler(name)) : []
      return keep(item, () => readWith([...before, item]))
    })
    fields.set(name, items.length === value.items.length ? field : { ...field, value: { ...value, items } })
  }
  const isWhole =
    fields.size === root.fields.size && [...fields].every(([name, field]) => root.fields.get(name) === field)
  return isWhole ? root : { ...root, fields }
}

function isKept(name: string, part: Node, step: () => void, { tolerance, hides }: PartReader): boolean {
  const effect: Hole['effect'] = ADDING.has(name) ? 'missing' : 'different'
  const all = () => JSON.stringify([name, hides(part)])
  return tolerance.attempt({ effect, hides: all }, () => [step()]) !== undefined
}

const withOnly = (always: MapNode, name: string, field: Field): MapNode => ({
  ...always,
  fields: new Map(always.fields).set(name, field),
})

function withItems(always: MapNode, name: string, field: Field, items: readonly Node[]): MapNode {
  return withOnly(always, name, { ...field, value: { ...field.value, items } as ListNode })
}

function failureOf(step: () => void): unknown {
  try {
    step()
    return undefined
  } catch (error) {
    return error
  }
}
