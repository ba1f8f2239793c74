import type { ListNode, MapNode, Node, Path } from '../../kube/node.ts'

/** Why the API server refuses a value. */
type ProblemKind =
  | 'unknown-field'
  /** Flux leaves it out before the API server sees it: it has no effect. */
  | 'dropped-field'
  /** Not text, of a custom kind: Flux reads labels as texts only, and drops all of them. */
  | 'dropped-labels'
  | 'missing-field'
  | 'wrong-type'
  | 'bad-format'
  | 'not-allowed'
  /** Not allowed together with another field. */
  | 'forbidden-field'
  | 'duplicate'
  /** None of the alternatives of a custom kind's schema fits. */
  | 'no-match'
  | 'unknown-kind'
  /** Still served but deprecated; the API server warns. */
  | 'deprecated-version'
  /** An update may not change it. */
  | 'immutable'
  /** Violates a CEL rule of the custom kind's schema; `found` is the rule's message. */
  | 'rule'

/** One place of an object that a version of Kubernetes refuses. */
export interface Problem {
  readonly kind: ProblemKind
  readonly path: Path
  /** What may stand there, in words; for an unknown field the names that are known. */
  readonly allowed: string
  /** What stands there instead, in words; never the value itself. */
  readonly found: string
  /** What every version of the API server answers. */
  readonly words?: string
  /** Known names, for "did you mean". */
  readonly names?: readonly string[]
  /** `1.N`, or `2.N` of Flux: the first version that has the unknown field, serves the kind, or deprecates the API version. */
  readonly since?: string
  /** The last version that had the field or serves the API version. */
  readonly until?: string
}

/** What only the cluster has, or what SOPS encrypted, can be anything. */
export const isUnknown = (node: Node): boolean =>
  node.type === 'scalar' &&
  (node.opaque !== undefined || (typeof node.value === 'string' && node.value.startsWith('ENC[AES256_GCM,')))

/** How a value is written, in words; never the value itself, which may be secret. */
export function writtenAs(node: Node): string {
  if (node.type === 'map') return 'a map'
  if (node.type === 'list') return 'a list'
  if (node.value === null) return 'null'
  if (typeof node.value === 'bigint') return 'a number'
  return typeof node.value === 'string' ? 'a string' : `a ${typeof node.value}`
}

/** No UTF-16 unit takes more in UTF-8. */
const UTF8_PER_UNIT = 3

/** The bytes of some texts in UTF-8; 0 where they certainly do not exceed the limit, which takes no counting. */
export function bytesIn(texts: readonly string[], limit: number): number {
  let units = 0
  for (const text of texts) units += text.length
  return units * UTF8_PER_UNIT <= limit ? 0 : texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}

/** Reports problems of an object type beyond the types of its fields. */
export type TypeCheck = (node: MapNode, path: Path, add: (problem: Problem) => void) => void

/** The value of a field; undefined if absent or null. */
export function valueIn(node: MapNode | undefined, name: string): Node | undefined {
  const value = node?.fields.get(name)?.value
  return value?.type === 'scalar' && value.value === null ? undefined : value
}

/** The text of a field; undefined if only the cluster knows it. */
export function textIn(node: MapNode | undefined, name: string): string | undefined {
  const value = valueIn(node, name)
  return value?.type === 'scalar' && typeof value.value === 'string' && !isUnknown(value) ? value.value : undefined
}

/** The number of a field; undefined if only the cluster knows it. */
export function numberIn(node: MapNode | undefined, name: string): number | undefined {
  const value = valueIn(node, name)
  if (value?.type !== 'scalar' || isUnknown(value)) return undefined
  return typeof value.value === 'number' || typeof value.value === 'bigint' ? Number(value.value) : undefined
}

export function mapIn(node: MapNode | undefined, name: string): MapNode | undefined {
  const value = valueIn(node, name)
  return value?.type === 'map' ? value : undefined
}

const NO_ITEMS: ListNode['items'] = []
const NO_MAPS: readonly (readonly [number, MapNode])[] = []

export function itemsIn(node: MapNode | undefined, name: string): readonly Node[] {
  const value = valueIn(node, name)
  return value?.type === 'list' ? value.items : NO_ITEMS
}

/** The items of a list that are maps, with their index. */
export function mapsIn(node: MapNode | undefined, name: string): readonly (readonly [index: number, item: MapNode])[] {
  const items = itemsIn(node, name)
  if (items.length === 0) return NO_MAPS
  const maps: [number, MapNode][] = []
  for (let index = 0; index < items.length; index++) {
    const item = items[index]!
    if (item.type === 'map') maps.push([index, item])
  }
  return maps
}

/** Whether a field is set; null and empty text count as absent. */
export function isSet(node: MapNode | undefined, name: string): boolean {
  const value = valueIn(node, name)
  return value !== undefined && !(value.type === 'scalar' && value.value === '' && !value.opaque)
}

/** Whether only the cluster knows the value of a field. */
export function isHidden(node: MapNode, name: string): boolean {
  const value = node.fields.get(name)?.value
  return value !== undefined && isUnknown(value)
}

export const badValue = (path: Path, allowed: string, found = 'another value'): Problem => ({
  kind: 'bad-format',
  path,
  allowed,
  found,
})

export const missingField = (path: Path, allowed = 'a value'): Problem => ({
  kind: 'missing-field',
  path,
  allowed,
  found: 'nothing',
})

export const wrongWord = (path: Path, names: readonly string[]): Problem => ({
  kind: 'not-allowed',
  path,
  allowed: names.join(', '),
  found: 'another word',
  names,
})

/** The problem of a field that another field excludes. */
export const forbiddenField = (path: Path, allowed: string): Problem => ({
  kind: 'forbidden-field',
  path,
  allowed,
  found: 'a value',
})
