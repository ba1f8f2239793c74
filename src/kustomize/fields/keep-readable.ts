import type { Hole } from '../../kube/hole.ts'
import type { Field, ListNode, MapNode, Node } from '../../kube/node.ts'
import { failingParts } from '../model/failing-parts.ts'
import type { Tolerance } from '../model/tolerance.ts'
import { KNOWN_FIELDS } from './registry.ts'

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

/** Fields that read or change whatever the kustomization builds hide all that it names. */
const isFar = (name: string): boolean => KNOWN_FIELDS.get(name)?.leftOut?.reach !== undefined

/**
 * The map without the entries of lists, and the fields that are no lists, with which it cannot be read. `always` has the
 * fields that are read beside each of them.
 */
export function keepReadable(root: MapNode, always: MapNode, reader: PartReader): MapNode {
  const { tolerance } = reader
  const fields = new Map<string, Field>()
  for (const [name, field] of root.fields) {
    const { value } = field
    const fails = (some: Field) => tolerance.failureOf(() => reader.read(withOnly(always, name, some))) !== undefined
    if (!fails(field)) fields.set(name, field)
    // where the field itself is unknown, its entries are one part
    else if (value.type !== 'list' || value.items.length === 0 || fails(withItems(field, []))) {
      isKept(name, isFar(name) ? root : value, () => reader.read(withOnly(always, name, field)), reader)
    } else fields.set(name, withItems(field, keepItems(name, field, root, always, reader)))
  }
  const isWhole = [...root.fields].every(([name, field]) => fields.get(name) === field)
  return isWhole ? root : { ...root, fields }
}

function keepItems(name: string, field: Field, root: MapNode, always: MapNode, reader: PartReader): Node[] {
  const { items } = field.value as ListNode
  const { tolerance, filler } = reader
  const read = (some: readonly Node[]) => reader.read(withOnly(always, name, withItems(field, some)))
  const fails = (some: readonly Node[]) => tolerance.failureOf(() => read(some)) !== undefined
  const failing = new Set(failingParts(items, fails, tolerance.enough))
  return items.filter((item, index) => {
    if (!failing.has(item)) return true
    const part = isFar(name) ? [item, root] : item
    const before = filler ? Array<Node>(index).fill(filler(name)) : []
    return isKept(name, part, () => read([...before, item]), reader)
  })
}

function isKept(name: string, part: unknown, step: () => void, { tolerance, hides }: PartReader): boolean {
  const { objects, reach } = KNOWN_FIELDS.get(name)?.leftOut ?? {}
  const effect: Hole['effect'] = objects === 'only' ? 'missing' : 'different'
  const all = () => JSON.stringify([name, hides(part)])
  const affected = {
    ...(objects ? { brings: true as const } : {}),
    ...(reach === 'build' ? { spreads: true as const } : {}),
  }
  return tolerance.attempt({ effect, hides: all, ...affected }, () => [step()]) !== undefined
}

const withOnly = (always: MapNode, name: string, field: Field): MapNode => ({
  ...always,
  fields: new Map(always.fields).set(name, field),
})

const withItems = (field: Field, items: readonly Node[]): Field => ({
  ...field,
  value: { ...field.value, items } as ListNode,
})
