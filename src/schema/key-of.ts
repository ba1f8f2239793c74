import type { Node } from '../kube/node.ts'

/** Defaults of the API server that count before keys are compared (OpenAPI `default` of the keys of k8s.io/api). */
const DEFAULTS: Readonly<Record<string, string>> = { protocol: 'TCP' }

/** What tells an item of a keyed list from the others; undefined where the list has no keys or the item lacks one. */
export function keyOf(item: Node, keys: readonly string[] | '=', defaults = DEFAULTS): string | undefined {
  if (keys === '=') return item.type === 'scalar' ? JSON.stringify(String(item.value)) : undefined
  if (keys.length === 0 || item.type !== 'map') return undefined
  const parts: string[] = []
  for (const key of keys) {
    const value = item.fields.get(key)?.value
    const text = value?.type === 'scalar' && value.value !== null ? String(value.value) : defaults[key]
    if (text === undefined || (value?.type === 'scalar' && value.opaque)) return undefined
    parts.push(text)
  }
  return JSON.stringify(parts)
}
