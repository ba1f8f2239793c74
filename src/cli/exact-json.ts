import type { Node } from '../kube/node.ts'

/** Plain values of a node in which no integer is rounded. */
export type Exact = string | number | bigint | boolean | null | Exact[] | { [key: string]: Exact }

/** The values of a node, keys in its order; an integer beyond 2^53 is a bigint. */
export function exactOf(node: Node): Exact {
  if (node.type === 'list') return node.items.map(exactOf)
  if (node.type === 'scalar') return fits(node.value) ? Number(node.value) : node.value
  const object: { [key: string]: Exact } = Object.create(null)
  for (const [key, field] of node.fields) object[key] = exactOf(field.value)
  return object
}

const fits = (value: unknown): boolean =>
  typeof value === 'bigint' && BigInt(Number(value)) === value && Number.isSafeInteger(Number(value))

// of the language, but not yet of lib.es2024
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }

/** JSON text with every integer as it is. */
export function exactJson(value: Exact, indent?: number): string {
  return JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? rawJSON(String(inner)) : inner), indent)
}
