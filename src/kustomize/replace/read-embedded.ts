import { BailiwickError } from '../../errors.ts'
import { isAbsent, writtenText } from '../../kube/edit-node.ts'
import type { Node, ScalarNode } from '../../kube/node.ts'
import { parseText } from '../../kube/yaml/parse-documents.ts'
import type { Origin } from '../../origin.ts'

/** 1-based, within the text. */
export interface TextPlace {
  readonly line: number
  readonly column: number
  /** A quote, a bracket, or the first character of a plain text. */
  readonly first: string
}

/** YAML or JSON that stands in a text of an object. */
export interface EmbeddedText {
  readonly node: Node
  readonly text: string
  /** Where a part of it starts; undefined for what was not in the text. */
  readonly placeOf: (origin: Origin) => TextPlace | undefined
}

/**
 * The one document in a text; undefined where there is none. Throws what reading a file throws, at the place of the
 * text, and `kustomize-unsupported` for what kustomize would not write back.
 */
export function readEmbedded(scalar: ScalarNode): EmbeddedText | undefined {
  const text = writtenText(scalar)
  const starts = new WeakMap<Origin, TextPlace>()
  const lines = text.split('\n')
  const parsed = parseText(text, (line, column) => {
    const origin = { ...scalar.origin }
    starts.set(origin, { line, column, first: lines[line - 1]?.charAt(column - 1) ?? '' })
    return origin
  })
  const [node, second] = parsed.documents
  if (second || parsed.pieces > 1) refuse('several documents', scalar.origin)
  if (node) return { node, text, placeOf: origin => starts.get(origin) }
  const word = text.trim()
  if (word === '' || !isAbsent(scalar)) return undefined
  return { node: { type: 'scalar', value: null, origin: scalar.origin }, text, placeOf: () => undefined }
}

function refuse(what: string, origin: Origin): never {
  const message = `replacements: replacing inside text with ${what} is not supported`
  throw new BailiwickError('kustomize-unsupported', message, { origin })
}
