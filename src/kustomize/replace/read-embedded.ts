import { BailiwickError } from '../../errors.ts'
import { isAbsent, writtenText } from '../../kube/edit-node.ts'
import type { Node, ScalarNode } from '../../kube/node.ts'
import { parseText } from '../../kube/yaml/parse-documents.ts'
import type { Origin } from '../../origin.ts'

/** YAML or JSON that stands in a text of an object. */
interface EmbeddedText {
  readonly node: Node
  readonly text: string
}

/**
 * The one document in a text; undefined where there is none. Throws what reading a file throws, at the place of the
 * text, and `kustomize-unsupported` for what kustomize would not write back.
 */
export function readEmbedded(scalar: ScalarNode): EmbeddedText | undefined {
  const text = writtenText(scalar)
  const parsed = parseText(text, () => ({ ...scalar.origin }))
  const [node, second] = parsed.documents
  if (second || parsed.pieces > 1) refuse('several documents', scalar.origin)
  if (node) return { node, text }
  const word = text.trim()
  if (word === '' || !isAbsent(scalar)) return undefined
  return { node: { type: 'scalar', value: null, origin: scalar.origin }, text }
}

function refuse(what: string, origin: Origin): never {
  const message = `replacements: replacing inside text with ${what} is not supported`
  throw new BailiwickError('kustomize-unsupported', message, { origin })
}
