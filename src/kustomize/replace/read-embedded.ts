import { Lexer } from 'yaml'
import { BailiwickError } from '../../errors.ts'
import { isAbsent, writtenText } from '../../kube/edit-node.ts'
import type { Node, ScalarNode } from '../../kube/node.ts'
import type { Origin } from '../../kube/origin.ts'
import { parseText } from '../../kube/parse-documents.ts'

/** YAML or JSON that stands in a text of an object. */
export interface Embedded {
  readonly node: Node
  readonly text: string
  /** The character with which a part of it starts: a quote, a bracket, or the first one of a plain text. */
  readonly charAt: (origin: Origin) => string | undefined
}

/**
 * The one document in a text; undefined where there is none. Throws what reading a file throws, at the place of the
 * text, and `kustomize-unsupported` for what kustomize would not write back.
 */
export function readEmbedded(scalar: ScalarNode): Embedded | undefined {
  const text = writtenText(scalar)
  const starts = new WeakMap<Origin, string>()
  const lines = text.split('\n')
  const parsed = parseText(text, (line, column) => {
    const origin = { ...scalar.origin }
    starts.set(origin, lines[line - 1]?.charAt(column - 1) ?? '')
    return origin
  })
  const [node, second] = parsed.documents
  if (second || parsed.pieces > 1) refuse('several documents', scalar.origin)
  if (node) return { node, text, charAt: origin => starts.get(origin) }
  const word = text.trim()
  if (word === '' || !isAbsent(scalar)) return undefined
  return { node: { type: 'scalar', value: null, origin: scalar.origin }, text, charAt: () => word.charAt(0) }
}

/** What in a text our writer of YAML would not keep as go-yaml does; undefined where it keeps all. */
export function specialPart(text: string): 'a comment' | 'an anchor' | undefined {
  let previous = ''
  for (const lexeme of new Lexer().lex(text)) {
    // the text of a plain or block scalar comes after this mark
    if (previous !== '\u001f') {
      if (lexeme.startsWith('#')) return 'a comment'
      if (lexeme.startsWith('&') || lexeme.startsWith('*')) return 'an anchor'
    }
    previous = lexeme
  }
  return undefined
}

function refuse(what: string, origin: Origin): never {
  const message = `a replacement inside a text with ${what} is not supported`
  throw new BailiwickError('kustomize-unsupported', message, { origin })
}
