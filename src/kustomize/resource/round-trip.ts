import { BailiwickError } from '../../errors.ts'
import type { Field, MapNode, Node, ScalarNode } from '../../kube/node.ts'

/**
 * An object as it is after kustomize has written it out and read it back. Only folded texts (`>`) change: go-yaml's
 * emitter adds an empty line before a line that is indented more. Throws `yaml-ambiguous` for folded texts that it would
 * spoil otherwise.
 */
export function roundTrip(root: MapNode): MapNode {
  return write(root) as MapNode
}

function write(node: Node): Node {
  if (node.type === 'scalar') return node.style === 'folded' ? writeFolded(node) : node
  if (node.type === 'list') {
    const items = node.items.map(write)
    return items.some((item, i) => item !== node.items[i]) ? { ...node, items } : node
  }
  let fields: Map<string, Field> | undefined
  for (const [key, field] of node.fields) {
    const value = write(field.value)
    if (value === field.value) continue
    fields ??= new Map(node.fields)
    fields.set(key, { ...field, value })
  }
  return fields ? { ...node, fields } : node
}

function writeFolded(node: ScalarNode): ScalarNode {
  const text = String(node.value)
  // such texts are written in double quotes, which keeps them
  if (text === '' || / \n| $|[\u{10000}-\u{10ffff}]/u.test(text)) return node
  if (/^\s|\n\n$/.test(text)) {
    const message = 'a folded text (>) that starts or ends with blank lines or spaces is changed by kustomize'
    throw new BailiwickError('yaml-ambiguous', message, { origin: node.origin, fix: 'Write it with | or in quotes.' })
  }
  const value = text.replace(/(^|\n)([^\s\n][^\n]*)(\n+)(?=[ \t])/g, '$1$2\n$3')
  return value === text ? node : { ...node, value }
}
