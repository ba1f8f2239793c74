import type { Node } from '../node.ts'
import { parseDocument } from './document-parser.ts'
import { Expansion } from './expansion.ts'
import { refuseSyntax, refuseUndecided } from './refuse-yaml.ts'
import { DOCUMENT_END, DOCUMENT_START, STREAM_END } from './token.ts'
import type { TokenList } from './token-list.ts'
import { TokenReader } from './token-reader.ts'
import type { Position } from './yaml-budget.ts'

const SEPARATE = 'Start each document with `---` on its own line.'

/** The documents that the tokens of a text make, those left out that are empty or null. Throws as `parseDocument` does. */
export function parseTokens(tokens: TokenList, text: string, position: Position): Node[] {
  const reader = new TokenReader(tokens, text, position)
  const expansion = new Expansion()
  const nodes: Node[] = []
  for (let first = true; reader.peek() !== STREAM_END; first = false) {
    const marked = reader.peek() === DOCUMENT_START
    if (marked) reader.skip()
    else if (!first) refuseUndecided('text after the end of a document', reader.origin(), SEPARATE)
    const kind = reader.peek()
    // kustomize, which cuts at separators, sees a document that begins with its end marker
    if (kind === DOCUMENT_END) refuseSyntax('a document end marker without a document', reader.origin())
    if (kind === DOCUMENT_START || kind === STREAM_END) continue
    const node = parseDocument(reader, expansion)
    if (node.type !== 'scalar' || node.value !== null) nodes.push(node)
    while (reader.peek() === DOCUMENT_END) reader.skip()
  }
  return nodes
}
