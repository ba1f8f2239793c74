import { canonical, type ListNode, type MapNode, type Node, type ScalarNode } from '../../kube/node.ts'
import { elementSchema, fieldSchema, type Schema } from '../../kustomize/patch/merge-schema.ts'

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
 * null counts as absent, as for the API server. Deterministic: fields in the order of their names.
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

/** Which items of two lists are the same item. `label`: what it is called by its keys. */
interface Matching {
  readonly pairs: readonly { readonly before: number; readonly after: number; readonly label?: string }[]
  readonly removed: readonly { readonly at: number; readonly label?: string }[]
  readonly added: readonly { readonly at: number; readonly label?: string }[]
  /** Items that both have come in another order, and that means something. */
  readonly reordered: boolean
}

/** Keys that identify items of a list without a merge key: the first that every item has and none shares. */
const KEYS: readonly (readonly string[])[] = [
  ['kind', 'namespace', 'name'],
  ['name'],
  ['key'],
  ['containerPort', 'protocol'],
  ['port', 'protocol'],
  ['mountPath'],
  ['ip'],
  ['host'],
  ['path'],
  ['id'],
]
/** Kubernetes fills these in. */
const DEFAULTS: Readonly<Record<string, string>> = { protocol: 'TCP', namespace: '' }
/** Lists of built-in kinds that are sets: no item is before another. */
const SETS = new Set(
  'rules verbs apiGroups resources resourceNames nonResourceURLs subjects accessModes policyTypes finalizers tolerations matchExpressions values ingress egress from to ports clusterRoleSelectors'.split(
    ' ',
  ),
)
/** They run one after the other. */
const SEQUENCES = new Set(['initContainers'])

/**
 * Finds the items of two lists that belong together: by the merge keys that Kubernetes has for the list, else by what names
 * its items, else by what they hold. In lists of built-in kinds a moved item is a change only where order has a meaning.
 */
function matchItems(before: readonly Node[], after: readonly Node[], name: string, schema: Schema): Matching {
  for (const keys of schema?.keys?.length ? [schema.keys, ...KEYS] : KEYS) {
    const [a, b] = [identities(before, keys), identities(after, keys)]
    if (a && b) return byIdentity(a, b, schema === undefined || SEQUENCES.has(name))
  }
  const texts = [before.map(canonical), after.map(canonical)] as const
  const isSet = schema !== undefined && (schema.keys?.length === 0 || SETS.has(name))
  return isSet ? asSets(...texts) : asSequences(...texts)
}

/** What each item is called; undefined where an item has no such name or shares it. */
function identities(items: readonly Node[], keys: readonly string[]): readonly string[] | undefined {
  const names: string[] = []
  for (const item of items) {
    const name = item.type === 'map' ? identityOf(item, keys) : undefined
    if (name === undefined) return undefined
    names.push(name)
  }
  return new Set(names).size === names.length ? names : undefined
}

function identityOf(item: MapNode, keys: readonly string[]): string | undefined {
  const parts = keys.map((key, at) => {
    const value = item.fields.get(key)?.value
    if (value?.type === 'scalar' && value.value !== null && !value.opaque) return String(value.value)
    return at > 0 || keys.length === 1 ? DEFAULTS[key] : undefined
  })
  return parts.includes(undefined) ? undefined : parts.filter(part => part !== '').join('/')
}

function byIdentity(before: readonly string[], after: readonly string[], ordered: boolean): Matching {
  const places = new Map(after.map((name, at) => [name, at]))
  const known = new Set(before)
  const pairs = before.flatMap((label, at) => {
    const other = places.get(label)
    return other === undefined ? [] : [{ before: at, after: other, label }]
  })
  return {
    pairs,
    removed: before.flatMap((label, at) => (places.has(label) ? [] : [{ at, label }])),
    added: after.flatMap((label, at) => (known.has(label) ? [] : [{ at, label }])),
    reordered: ordered && pairs.some((pair, at) => at > 0 && pair.after < pairs[at - 1]!.after),
  }
}

/** Equal items first; what is left over is paired as it stands, so that a changed rule is not one removed and one added. */
function asSets(before: readonly string[], after: readonly string[]): Matching {
  const places = Map.groupBy(after.keys(), at => after[at]!)
  const removed: number[] = []
  const taken = new Set<number>()
  for (const [at, text] of before.entries()) {
    const other = places.get(text)?.shift()
    if (other === undefined) removed.push(at)
    else taken.add(other)
  }
  const added = [...after.keys()].filter(at => !taken.has(at))
  const both = Math.min(removed.length, added.length)
  const pairs = removed.slice(0, both).map((at, index) => ({ before: at, after: added[index]! }))
  return { pairs, ...only(removed.slice(both), added.slice(both)), reordered: false }
}

/** Only items between the same neighbors, as many on both sides, count as changed. */
function asSequences(before: readonly string[], after: readonly string[]): Matching {
  const { same, removed, added } = align(before, after)
  const pairs = same.map(([i, j]) => ({ before: i, after: j }))
  const rest: { removed: number[]; added: number[] } = { removed: [], added: [] }
  let [i, j] = [0, 0]
  for (const [nextI, nextJ] of [...same, [before.length, after.length] as const]) {
    const gone = removed.filter(at => at >= i && at < nextI)
    const come = added.filter(at => at >= j && at < nextJ)
    if (gone.length === come.length) pairs.push(...gone.map((at, index) => ({ before: at, after: come[index]! })))
    else {
      rest.removed.push(...gone)
      rest.added.push(...come)
    }
    ;[i, j] = [nextI + 1, nextJ + 1]
  }
  return { pairs, ...only(rest.removed, rest.added), reordered: false }
}

const only = (removed: readonly number[], added: readonly number[]) => ({
  removed: removed.map(at => ({ at })),
  added: added.map(at => ({ at })),
})

/** Two sequences put side by side: what stands on both sides, and what on one only. Indices ascend. */
interface Alignment {
  readonly same: readonly (readonly [before: number, after: number])[]
  readonly removed: readonly number[]
  readonly added: readonly number[]
}

/** A table of more cells is not made: what differs is then removed and added as a whole. */
const MAX_CELLS = 40_000

/** The longest common subsequence of texts, after what both begin and end with. */
export function align(before: readonly string[], after: readonly string[]): Alignment {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && before[head] === after[head]) head++
  let tail = 0
  while (tail < shorter - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  const same: [number, number][] = Array.from({ length: head }, (_, at) => [at, at])
  const [a, b] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)]
  for (const [i, j] of common(a, b)) same.push([head + i, head + j])
  for (let at = tail; at > 0; at--) same.push([before.length - at, after.length - at])
  const [left, right] = [new Set(same.map(([i]) => i)), new Set(same.map(([, j]) => j))]
  return {
    same,
    removed: [...before.keys()].filter(at => !left.has(at)),
    added: [...after.keys()].filter(at => !right.has(at)),
  }
}

function common(a: readonly string[], b: readonly string[]): [number, number][] {
  if (a.length === 0 || b.length === 0 || a.length * b.length > MAX_CELLS) return []
  const width = b.length + 1
  const table = new Uint16Array((a.length + 1) * width)
  const at = (i: number, j: number) => table[i * width + j]!
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      table[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const found: [number, number][] = []
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) found.push([i++, j++])
    else if (at(i + 1, j) >= at(i, j + 1)) i++
    else j++
  }
  return found
}

/** Whether a place in an object lies in a part of it that holds secrets. */
export interface Sealing {
  /** The fields of the nearest object around that hold them. */
  readonly parts: readonly string[]
  /** How many steps lead to such a part. */
  readonly depth?: number
}

/** Parts of kinds that hold nothing but secrets, or nothing that can be read. Any group: an operator may copy the kind. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  Secret: ['data', 'stringData'],
  SealedSecret: ['encryptedData'],
  ConfigMap: ['binaryData'],
}

export const UNSEALED: Sealing = { parts: [] }

/** The sealing of what is in a map, of which there may be two versions: it may be an object inside of another one. */
export function sealingIn(sealing: Sealing, versions: readonly Node[]): Sealing {
  const kinds = versions.flatMap(version => {
    const kind = version.type === 'map' ? version.fields.get('kind')?.value : undefined
    return kind?.type === 'scalar' && typeof kind.value === 'string' ? [kind.value] : []
  })
  if (kinds.length === 0) return sealing
  const parts = kinds.flatMap(kind => (Object.hasOwn(PARTS, kind) ? PARTS[kind]! : []))
  return { ...sealing, parts }
}

/** The sealing of a field that lies `depth` steps deep. */
export function sealingOf(sealing: Sealing, name: string, depth: number): Sealing {
  return sealing.depth === undefined && sealing.parts.includes(name) ? { ...sealing, depth } : sealing
}
