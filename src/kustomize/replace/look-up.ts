import { isAbsent, writtenText } from '../../kube/edit-node.ts'
import type { Node } from '../../kube/node.ts'
import { indexPart, isElementPart, parseElementPart } from './field-path.ts'

export interface FoundNode {
  readonly node: Node
  readonly place: readonly (string | number)[]
}

/**
 * The value at a field path, as the source of a replacement is found: the first element that fits, `-` for the last
 * one (kyaml's PathGetter). `absent` for nothing there, `fails` for a path that does not fit the object.
 */
export function lookUp(root: Node, path: readonly string[]): FoundNode | 'absent' | 'fails' {
  let found: FoundNode = { node: root, place: [] }
  for (const part of path.map(name => name.trim()).filter(name => name !== '')) {
    const next = lookUpStep(found, part)
    if (typeof next === 'string') return next
    found = next
  }
  return found
}

/** One step of `lookUp`. */
export function lookUpStep({ node, place }: FoundNode, part: string): FoundNode | 'absent' | 'fails' {
  const key = keyOf(node, part)
  if (typeof key !== 'object') return key
  const child = node.type === 'map' ? node.fields.get(String(key.key))?.value : undefined
  const value = node.type === 'list' ? node.items[key.key as number] : child
  return value === undefined ? 'absent' : { node: value, place: [...place, key.key] }
}

function keyOf(node: Node, part: string): { key: string | number } | 'absent' | 'fails' {
  const index = indexPart(part)
  const isList = part === '-' || index !== undefined || isElementPart(part)
  if (part === '*' || (index !== undefined && index < 0)) return 'fails'
  if (isAbsent(node)) return part === '-' ? 'fails' : 'absent'
  if (!isList) return node.type === 'map' ? { key: part } : 'fails'
  if (node.type !== 'list') return 'fails'
  if (part === '-') return node.items.length === 0 ? 'fails' : { key: node.items.length - 1 }
  if (index !== undefined) return { key: index }
  const wanted = parseElementPart(part)
  if (!wanted) return 'fails'
  const position = node.items.findIndex(item => {
    if (wanted.key === '') return valueText(item) === wanted.value
    const field = item.type === 'map' ? item.fields.get(wanted.key)?.value : undefined
    return field !== undefined && valueText(field) === wanted.value
  })
  return position < 0 ? 'absent' : { key: position }
}

// what go-yaml keeps of a node as its text; maps and lists have none
const valueText = (node: Node): string => (node.type === 'scalar' ? writtenText(node) : '')
