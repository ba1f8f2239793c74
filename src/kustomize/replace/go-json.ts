import type { Node } from '../../kube/node.ts'

/** JSON as Go's encoding/json writes what go-yaml has read: keys sorted by bytes; on lines where an indent is given. */
export function goJson(node: Node, indent: string, outer = ''): string {
  if (node.type === 'scalar') return typeof node.value === 'string' ? goString(node.value) : String(node.value)
  const inner = outer + indent
  const isMap = node.type === 'map'
  const parts = isMap
    ? sortedKeys(node.fields).map(key => {
        const value = goJson(node.fields.get(key)!.value, indent, inner)
        return `${goString(key)}:${indent === '' ? '' : ' '}${value}`
      })
    : node.items.map(item => goJson(item, indent, inner))
  const [open, close] = isMap ? '{}' : '[]'
  if (parts.length === 0 || indent === '') return `${open}${parts.join(',')}${close}`
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${outer}${close}`
}

function sortedKeys(fields: ReadonlyMap<string, unknown>): string[] {
  return [...fields.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}

function goString(text: string): string {
  const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(text).replace(/[<>&\u2028\u2029]/g, escaped)
}
