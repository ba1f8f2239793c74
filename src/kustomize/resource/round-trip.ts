import { BailiwickError } from '../../errors.ts'
import type { Field, MapNode, Node, ScalarNode } from '../../kube/node.ts'
import { isBlank } from '../../kube/yaml/characters.ts'
import { TextParts } from '../../kube/yaml/text-parts.ts'

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
    let items: Node[] | undefined
    for (let index = 0; index < node.items.length; index++) {
      const item = write(node.items[index]!)
      if (item === node.items[index]) continue
      items ??= [...node.items]
      items[index] = item
    }
    return items ? { ...node, items } : node
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
  if (/^[ \t\n]|\n\n$/.test(text)) {
    const message = 'kustomize changes folded text (>) that starts or ends with blank lines or spaces'
    throw new BailiwickError('yaml-ambiguous', message, {
      origin: node.origin,
      fix: 'Write the text with | or in quotes.',
    })
  }
  const value = spreadIndented(text)
  return value === text ? node : { ...node, value }
}

/** One more line break behind each line that begins with no blank where the next that is not empty does. */
function spreadIndented(text: string): string {
  const parts = new TextParts('')
  let taken = 0
  let line = 0
  for (let feed = text.indexOf('\n'); feed >= 0; feed = text.indexOf('\n', line)) {
    const wasIndented = isBlank(text.charCodeAt(line))
    line = feed
    while (text.charAt(line) === '\n') line++
    if (wasIndented || !isBlank(text.charCodeAt(line))) continue
    parts.push(`${text.slice(taken, feed)}\n`)
    taken = feed
  }
  parts.push(text.slice(taken))
  return parts.finish()
}
