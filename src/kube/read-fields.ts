import { BailiwickError } from '../base/errors.ts'
import { probably } from '../base/name-list.ts'
import { visible } from '../base/visible.ts'
import { at, canonical, isNull, type Node } from './node.ts'
import { isLabelKey, isLabelValue } from './object.ts'

/** A field of type string as the API server decodes it: absent and null are ''. Undefined where it would refuse the value. */
export function textOf(node: Node | undefined): string | undefined {
  if (node === undefined) return ''
  if (node.type !== 'scalar') return undefined
  if (node.value === null) return ''
  return typeof node.value === 'string' ? node.value : undefined
}

/** A field of type []string; as textOf. */
export const textsOf = (node: Node | undefined): string[] | undefined => listOf(node, textOf)

/** A field of type map[string]string; as textOf. */
export function textMapOf(node: Node | undefined): ReadonlyMap<string, string> | undefined {
  const texts = new Map<string, string>()
  if (node === undefined || isNull(node)) return texts
  if (node.type !== 'map') return undefined
  for (const [key, { value }] of node.fields) {
    const text = textOf(value)
    if (text === undefined) return undefined
    texts.set(key, text)
  }
  return texts
}

/** A field that is a list of T: each element by `read`. Undefined where one of them is refused. */
export function listOf<T>(node: Node | undefined, read: (item: Node) => T | undefined): T[] | undefined {
  if (node === undefined || isNull(node)) return []
  if (node.type !== 'list') return undefined
  const found: T[] = []
  for (const item of node.items) {
    const one = read(item)
    if (one === undefined) return undefined
    found.push(one)
  }
  return found
}

/** A label selector of Kubernetes: all its requirements must hold, none at all selects everything. */
export type LabelSelector = readonly Requirement[]

interface Requirement {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  readonly values: readonly string[]
}

/** Reads a LabelSelector; undefined where the API server would refuse it (LabelSelectorAsSelector of k8s.io/apimachinery). */
export function readLabelSelector(node: Node): LabelSelector | undefined {
  if (node.type === 'scalar' && node.value === null) return []
  if (node.type !== 'map') return undefined
  const labels = textMapOf(at(node, ['matchLabels']))
  const expressions = listOf(at(node, ['matchExpressions']), readExpression)
  if (!labels || !expressions) return undefined
  const equal = [...labels].map(([key, value]): Requirement => ({ key, operator: 'In', values: [value] }))
  const all = [...equal, ...expressions]
  return all.every(({ key, values }) => isLabelKey(key) && values.every(isLabelValue)) ? all : undefined
}

/** Whether an object with these labels is selected. */
export function selects(selector: LabelSelector, labels: ReadonlyMap<string, string>): boolean {
  return selector.every(({ key, operator, values }) => {
    const value = labels.get(key)
    if (operator === 'Exists') return value !== undefined
    if (operator === 'DoesNotExist') return value === undefined
    if (operator === 'In') return value !== undefined && values.includes(value)
    return value === undefined || !values.includes(value)
  })
}

function readExpression(node: Node): Requirement | undefined {
  const key = textOf(at(node, ['key']))
  const operator = textOf(at(node, ['operator']))
  const values = textsOf(at(node, ['values']))
  if (key === undefined || !values) return undefined
  if (operator === 'In' || operator === 'NotIn') return values.length > 0 ? { key, operator, values } : undefined
  if (operator !== 'Exists' && operator !== 'DoesNotExist') return undefined
  return values.length === 0 ? { key, operator, values } : undefined
}

/** The fields of a map that count for a comparison, by name, each with its value as text; none for what is not a map. */
export function fieldTexts(map: Node | undefined, counts: (name: string) => boolean): (readonly [string, string])[] {
  if (map?.type !== 'map') return []
  const fields = [...map.fields].flatMap(([name, { value }]) =>
    counts(name) ? [[name, canonical(value)] as const] : [],
  )
  return fields.sort(([a], [b]) => (a < b ? -1 : 1))
}

/**
 * Throws `config` for the first key of a map that is none of `known`, at the line of the key, with the one that was probably meant.
 * `place`: where the map is in its file, '' for the whole file. What is not a map is left to the reader of its fields.
 */
export function refuseUnknownKeys(node: Node | undefined, place: string, known: readonly string[]): void {
  if (node?.type !== 'map') return
  for (const [key, field] of node.fields) {
    if (known.includes(key)) continue
    const meant = probably(key, known)
    const what = JSON.stringify(visible(place === '' ? key : `${place}.${key}`, 120))
    throw new BailiwickError('config', `${what} is an unknown key. Allowed: ${known.join(', ')}`, {
      origin: field.key,
      fix: meant === undefined ? 'Remove it, or write one of the allowed keys.' : `Did you mean ${meant}?`,
    })
  }
}
