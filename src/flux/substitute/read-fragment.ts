import { BailiwickError } from '../../errors.ts'
import { at, type Field, type Node } from '../../kube/node.ts'
import { parseText } from '../../kube/yaml/parse-documents.ts'
import type { Origin } from '../../origin.ts'
import { readPlain } from './read-plain.ts'
import { plainValue, type ScalarPosition } from './read-scalar.ts'
import { INJECTION, TemplateError } from './template-error.ts'

/**
 * The value of a text of one line that is more than a scalar, such as `{a: b}`, where it stands: in a list also `a: b`
 * is a map. Every part of it was written at `origin`. Throws TemplateError for what is no YAML there, or is not surely
 * read as go-yaml v2 reads it.
 */
export function readFragment(text: string, position: ScalarPosition, origin: Origin): Node {
  const whole = parse(position === 'item' ? `- ${text}\n` : `k: ${text}\n`, origin)
  const alone = whole?.type === 'list' ? whole.items.length === 1 : whole?.type === 'map' && whole.fields.size === 1
  const node = at(whole, position === 'item' ? [0] : ['k'])
  if (node && alone) return read(node)
  throw new TemplateError('a value becomes more than one value of YAML', 'flux-unsupported', INJECTION)
}

function parse(text: string, origin: Origin): Node | undefined {
  try {
    const { documents } = parseText(text, () => origin)
    return documents.length === 1 ? documents[0] : undefined
  } catch (error) {
    // what the parser says may be about the value, which may be a secret
    if (!(error instanceof BailiwickError)) throw error
    if (error.code === 'yaml-syntax') {
      throw new TemplateError('a value becomes text that is no YAML', 'flux-invalid', INJECTION)
    }
    throw new TemplateError('a value becomes YAML that not every reader understands', 'flux-unsupported', INJECTION)
  }
}

/** The same values as go-yaml v2 resolves them. */
function read(node: Node): Node {
  if (node.type === 'list') return { ...node, items: node.items.map(read) }
  if (node.type === 'scalar') {
    if (node.quoted || node.style) return node
    const text = node.text ?? String(node.value)
    return { type: 'scalar', value: plainValue(readPlain(text), text).value, origin: node.origin }
  }
  const fields = new Map<string, Field>()
  for (const [key, field] of node.fields) {
    if (readPlain(key).type !== 'text')
      throw new TemplateError('a value contains a key that is not a string', 'flux-unsupported')
    fields.set(key, { key: field.key, value: read(field.value) })
  }
  return { ...node, fields }
}
