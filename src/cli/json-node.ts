import type { Field, Node } from '../kube/node.ts'
import type { Origin } from '../origin.ts'

type Plain = string | number | bigint | boolean | null | Plain[] | { [key: string]: Plain }

// of the language, but not yet of lib.es2024
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown
const { parse } = JSON as unknown as { parse(text: string, reviver: Reviver): Plain }

/** A JSON text as a node, integers exact; every value is at `origin`. Throws SyntaxError for what is no JSON. */
export function jsonNode(text: string, origin: Origin): Node {
  const plain = parse(text, (_key, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? '') ? BigInt(source!) : value,
  )
  return nodeOf(plain, origin)
}

function nodeOf(value: Plain, origin: Origin): Node {
  if (Array.isArray(value)) return { type: 'list', items: value.map(item => nodeOf(item, origin)), origin }
  if (value === null || typeof value !== 'object') {
    return { type: 'scalar', value, origin, ...(typeof value === 'string' ? { quoted: true } : {}) }
  }
  const fields = new Map<string, Field>()
  for (const [key, child] of Object.entries(value)) fields.set(key, { key: origin, value: nodeOf(child, origin) })
  return { type: 'map', fields, origin }
}
