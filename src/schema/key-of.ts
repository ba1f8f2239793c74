import type { MapNode, Node } from '../kube/node.ts'

/** Defaults of the API server that count before keys are compared (OpenAPI `default` of the keys of k8s.io/api). */
const DEFAULTS: ReadonlyMap<string, string> = new Map([['protocol', 'TCP']])

/** What tells an item of a keyed list from the others; undefined where the list has no keys or the item lacks one. */
export function keyOf(item: Node, keys: readonly string[] | '=', defaults = DEFAULTS): string | undefined {
  if (keys === '=') return item.type === 'scalar' ? String(item.value) : undefined
  if (keys.length === 0 || item.type !== 'map') return undefined
  if (keys.length === 1) return partOf(item, keys[0]!, defaults)
  const parts: string[] = []
  for (const key of keys) {
    const text = partOf(item, key, defaults)
    if (text === undefined) return undefined
    parts.push(text)
  }
  return JSON.stringify(parts)
}

function partOf(item: MapNode, key: string, defaults: ReadonlyMap<string, string>): string | undefined {
  const value = item.fields.get(key)?.value
  if (value?.type !== 'scalar') return defaults.get(key)
  if (value.opaque) return undefined
  return value.value === null ? defaults.get(key) : String(value.value)
}
