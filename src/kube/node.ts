import type { Origin, Step } from '../base/origin.ts'
import { work } from '../base/work.ts'

/** What a scalar of a Kubernetes document can be. Integers beyond 2^53 are bigint, so nothing is rounded. */
export type ScalarValue = string | number | bigint | boolean | null

/** What every node may have. */
interface Noted {
  /** A comment stands behind its key's colon: kustomize writes an empty list or map behind that, and cannot read it. */
  readonly noted?: true
}

/** Nodes are immutable and shared: a transformer builds new ones along the path that it changes. */
export interface ScalarNode extends Noted {
  readonly type: 'scalar'
  readonly value: ScalarValue
  readonly origin: Origin
  /** Source text of a plain scalar, where it differs from String(value) (kustomize stringifies annotations from it). */
  readonly text?: string
  /** How a block scalar was written: the lines of a literal one stand in the file as they are, below its origin. */
  readonly style?: 'literal' | 'folded'
  /** Spaces that stand before each line of a literal block scalar. */
  readonly indent?: number
  /** Written in quotes, so that it is text for every YAML version. */
  readonly quoted?: boolean
  /** kustomize made it without a type: it is what its text would be in a file, also after the text has changed. */
  readonly untyped?: true
  /** Written to several places of one object by kustomize as one value: a change at one place changes all. */
  readonly shared?: object
  /** The comments beside it in the file, more rather than less: kustomize takes them for a part of it when it looks for elements. */
  readonly commented?: string
  /** The field in whose place Flux put it: `stringData` of a Secret. */
  readonly movedFrom?: string
  /** Flux puts an unknown value into it, one that only the cluster has: who holds the pieces, each once. The text is as before. */
  readonly opaque?: readonly ValueHolder[]
}

/** Where on the cluster an unknown value lies: authors of that object decide what the value is. */
export interface ValueHolder {
  /** A Kustomization holds what SOPS encrypted in its own variables. */
  readonly kind: 'ConfigMap' | 'Secret' | 'Kustomization'
  readonly namespace: string
  readonly name: string
  /** '' where it is not known which. */
  readonly key: string
  /** The fleet's own file vouches for it: for this key, or only for the object. */
  readonly declared?: 'key' | 'object'
}

export interface ListNode extends Noted {
  readonly type: 'list'
  readonly items: readonly Node[]
  readonly origin: Origin
  /** Written in brackets, between which kustomize writes nothing as an empty text. */
  readonly flow?: true
}

/** A field knows where its key was written; its value knows where the value was. */
export interface Field {
  readonly key: Origin
  readonly value: Node
  /** A merge key brought it. */
  readonly merged?: true
  /** Its key is a text because it is in quotes: without them YAML reads a merge key, a number or the like. */
  readonly quoted?: true
}

/** A list that had objects in it, which are built one by one. */
export interface Listing {
  readonly apiVersion: string
  readonly kind: string
  /** The list was itself an item of a list. */
  readonly isNested: boolean
}

export interface MapNode extends Noted {
  readonly type: 'map'
  readonly fields: ReadonlyMap<string, Field>
  readonly origin: Origin
  /** As in a list. */
  readonly flow?: true
  /** Of a document: values in it that substitution made of more than a plain variable. */
  readonly made?: readonly Made[]
  /** Of a document: a comment in its file that kustomize would let decide how patches merge lists. */
  readonly steered?: Origin
  /** Of an object: the list of which it was an item. */
  readonly listing?: Listing
  /** Where patches removed fields that are not there any more, by key: a missing field is reported at that line. */
  readonly removed?: ReadonlyMap<string, Origin>
  /** Keys that Flux dropped before it applies the object, because the type of Kubernetes does not have them. */
  readonly dropped?: ReadonlyMap<string, Field>
}

/** A value that is not what a variable says, or not only that. */
export interface Made {
  readonly path: Path
  /**
   * `default`: what stands in the template itself, because the variable is empty or not set. `function`: cut or replaced.
   * `structure`: the value became a map or a list. `unknown`: only the cluster has it, and it is undeclared.
   */
  readonly how: 'default' | 'function' | 'structure' | 'unknown'
}

export type Node = ScalarNode | ListNode | MapNode

export type Path = readonly (string | number)[]

/** The node at `path`, or undefined where any step of it is absent or of another type. */
export function at(node: Node | undefined, path: Path): Node | undefined {
  let here = node
  // an index loop, because this is called very often
  for (let depth = 0; depth < path.length; depth++) {
    const step = path[depth]!
    if (here?.type === 'map') here = here.fields.get(typeof step === 'string' ? step : String(step))?.value
    else if (here?.type === 'list' && typeof step === 'number') here = here.items[step]
    else return undefined
  }
  return here
}

/** The string at `path`; undefined where there is none or it is not a string. */
export function stringAt(node: Node | undefined, path: Path): string | undefined {
  const found = at(node, path)
  return found?.type === 'scalar' && typeof found.value === 'string' ? found.value : undefined
}

/** The items of a list; empty for any other node. */
export const itemsOf = (node: Node | undefined): readonly Node[] => (node?.type === 'list' ? node.items : [])

/** Keys and values of a map; none of anything else. */
export const entriesOf = (node: Node | undefined): readonly (readonly [string, Node])[] =>
  node?.type === 'map' ? [...node.fields].map(([key, { value }]) => [key, value]) : []

/** Whether it is a null that is written, or stands for nothing. */
export const isNull = (node: Node | undefined): boolean => node?.type === 'scalar' && node.value === null

/** Whether a value is the boolean true. */
export const isTrue = (node: Node | undefined): boolean => node?.type === 'scalar' && node.value === true

/**
 * Where to point for `path`: the value's own origin; for an absent value the patch that removed it, else the key of the
 * deepest part that is there (a missing `spec.serviceAccountName` points at `spec:`).
 */
export function originAt(node: Node, path: Path): Origin {
  let here: Node = node
  let origin = node.origin
  for (const step of path) {
    if (here.type === 'map') {
      const field = here.fields.get(String(step))
      if (!field) return here.removed?.get(String(step)) ?? here.dropped?.get(String(step))?.key ?? origin
      origin = field.value.type === 'scalar' ? field.value.origin : field.key
      here = field.value
    } else if (here.type === 'list' && typeof step === 'number' && here.items[step]) {
      here = here.items[step]
      origin = here.origin
    } else return origin
  }
  return origin
}

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/** Plain JSON of a node, keys in the order of the node. A bigint becomes a number where that is exact, else its text. */
export function toJson(node: Node): Json {
  if (node.type === 'list') return node.items.map(toJson)
  if (node.type === 'map') {
    const object: { [key: string]: Json } = Object.create(null)
    for (const [key, field] of node.fields) object[key] = toJson(field.value)
    return object
  }
  if (typeof node.value !== 'bigint') return node.value
  const number = Number(node.value)
  return BigInt(number) === node.value ? number : String(node.value)
}

/** The path of the first value that is another one than before, as deep as both sides have it; empty where all are equal. */
export function changedPath(was: Node, now: Node): Path {
  const next = stepsOfBoth(was, now).find(step => {
    const [old, young] = [at(was, [step]), at(now, [step])]
    return old === undefined || young === undefined ? old !== young : canonical(old) !== canonical(young)
  })
  if (next === undefined) return []
  const [old, young] = [at(was, [next]), at(now, [next])]
  return old && young ? [next, ...changedPath(old, young)] : [next]
}

/** None where one side is another sort of value, or a list of another length. */
function stepsOfBoth(was: Node, now: Node): (string | number)[] {
  if (was.type === 'map' && now.type === 'map') return [...now.fields.keys(), ...was.fields.keys()]
  return was.type === 'list' && now.type === 'list' && was.items.length === now.items.length
    ? [...now.items.keys()]
    : []
}

/** Canonical text of a node: JSON with sorted keys and exact integers. Equal text means equal objects for the cluster. */
export function canonical(node: Node): string {
  // texts of objects are kept: put together at once they are one text, else a tree of the pieces, far larger than it
  const pieces: string[] = []
  write(node, pieces)
  return pieces.join('')
}

function write(node: Node, pieces: string[]): void {
  if (node.type === 'scalar') {
    if (typeof node.value === 'string') writeText(node.value, pieces)
    else pieces.push(typeof node.value === 'bigint' ? String(node.value) : JSON.stringify(node.value))
  } else if (node.type === 'list') {
    let before = '['
    for (const item of node.items) {
      pieces.push(before)
      write(item, pieces)
      before = ','
    }
    pieces.push(node.items.length === 0 ? '[]' : ']')
  } else {
    let before = '{'
    for (const key of sortedKeys(node.fields)) {
      pieces.push(before)
      writeText(key, pieces)
      pieces.push(':')
      write(node.fields.get(key)!.value, pieces)
      before = ','
    }
    pieces.push(node.fields.size === 0 ? '{}' : '}')
  }
}

/** Most texts need no escape, and asking costs less than escaping. */
const PLAIN = /^[ !#-[\]-~]*$/

function writeText(text: string, pieces: string[]): void {
  if (text.length < 100 && PLAIN.test(text)) pieces.push('"', text, '"')
  else pieces.push(JSON.stringify(text))
}

function sortedKeys(fields: MapNode['fields']): Iterable<string> {
  let last = ''
  for (const key of fields.keys()) {
    if (key < last) return [...fields.keys()].sort()
    last = key
  }
  return fields.keys()
}

/**
 * Where to point for a map or list at `path` with something wrong in it: at the first place in it that another file wrote than the
 * one that holds it, such as a patch. As `originAt` where there is none, and for any other value.
 */
export function causeAt(node: Node, path: Path): Origin {
  const origin = originAt(node, path)
  const value = at(node, path)
  return (value && writtenElsewhere(value, origin)) ?? origin
}

function writtenElsewhere(node: Node, holder: Origin): Origin | undefined {
  const isOther = (origin: Origin) => origin.file !== holder.file || origin.repository !== holder.repository
  if (isOther(node.origin)) return node.origin
  const within = (children: Iterable<Node>) => {
    for (const child of children) {
      const found = writtenElsewhere(child, holder)
      if (found) return found
    }
    return undefined
  }
  if (node.type === 'scalar') return undefined
  if (node.type === 'list') return within(node.items)
  return (
    [...(node.removed?.values() ?? [])].find(isOther) ?? within([...node.fields.values()].map(field => field.value))
  )
}

/** A string written at `origin`. */
export function textNode(value: string, origin: Origin): ScalarNode {
  return { type: 'scalar', value, origin }
}

/** A map with these fields, each key standing at the map's own origin. */
export function mapNode(entries: Iterable<readonly [string, Node]>, origin: Origin): MapNode {
  const fields = new Map<string, Field>()
  for (const [key, value] of entries) fields.set(key, { key: origin, value })
  return { type: 'map', fields, origin }
}

/** `map` with `key` set to `value`, itself where that is so already; a key that is there keeps its place and, unless given, the origin of its key. */
export function withField(map: MapNode, key: string, value: Node, keyOrigin?: Origin): MapNode {
  const before = map.fields.get(key)
  const origin = keyOrigin ?? before?.key ?? value.origin
  if (before?.value === value && before.key === origin && !before.merged) return map
  work.copied += map.fields.size
  const fields = new Map(map.fields)
  fields.set(key, fieldLike(before, origin, value))
  return { ...map, fields }
}

/** A field whose key is written as it was. */
export function fieldLike(before: { readonly quoted?: true } | undefined, key: Origin, value: Node): Field {
  return before?.quoted ? { key, value, quoted: true } : { key, value }
}

/** `map` without `key`; `by`: the line of a patch that removes it. */
export function withoutField(map: MapNode, key: string, by?: Origin): MapNode {
  if (!map.fields.has(key)) return map
  const fields = new Map(map.fields)
  fields.delete(key)
  return { ...map, fields, ...(by ? { removed: new Map(map.removed).set(key, by) } : {}) }
}

/** `root` with `value` at `path`; maps that are missing on the way are made, written where the value was. */
export function withValueAt(root: MapNode, path: readonly string[], value: Node): MapNode {
  const [key, ...rest] = path
  if (key === undefined) return root
  if (rest.length === 0) return withField(root, key, value)
  const child = at(root, [key])
  const map: MapNode = child?.type === 'map' ? child : { type: 'map', fields: new Map(), origin: value.origin }
  return withField(root, key, withValueAt(map, rest, value), child?.type === 'map' ? undefined : value.origin)
}

/** `list` with the element at `index` replaced. */
export function withElement(list: ListNode, index: number, value: Node): ListNode {
  return { ...list, items: list.items.with(index, value) }
}

/** The same node, every part of it saying that it came through `step` besides what it says already. */
export function through(node: Node, step: Step): Node {
  const origin = originThrough(node.origin, step)
  if (node.type === 'scalar') return { ...node, origin }
  if (node.type === 'list') return { ...node, origin, items: node.items.map(item => through(item, step)) }
  const fields = new Map<string, Field>()
  for (const [key, field] of node.fields) {
    fields.set(key, { ...field, key: originThrough(field.key, step), value: through(field.value, step) })
  }
  return { ...node, origin, fields }
}

function originThrough(origin: Origin, step: Step): Origin {
  return { ...origin, via: [...(origin.via ?? []), step] }
}

/** Text of a scalar as it was written; '' for null and for a map or list (the `Value` of a node in kyaml). */
export function writtenText(node: Node | undefined): string {
  if (node?.type !== 'scalar') return ''
  return node.text ?? String(node.value)
}

/** Whether there is nothing: no node, or null. */
export function isAbsent(node: Node | undefined): node is undefined | (ScalarNode & { readonly value: null }) {
  return node === undefined || (node.type === 'scalar' && node.value === null)
}

/** Whether a node is absent or an empty map or list. */
export function isEmpty(node: Node | undefined): boolean {
  if (isAbsent(node)) return true
  return (node.type === 'map' && node.fields.size === 0) || (node.type === 'list' && node.items.length === 0)
}
