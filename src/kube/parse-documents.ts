import { Composer, type CST, type Document, Lexer, LineCounter, Parser } from 'yaml'
import { BailiwickError } from '../errors.ts'
import { checkDocuments } from './check-documents.ts'
import { checkTabs } from './check-tabs.ts'
import { convertDocument, type Source } from './convert-yaml.ts'
import { decodeText, type FileName } from './decode-text.ts'
import type { Node } from './node.ts'
import type { Origin } from './origin.ts'
import { maySteer, steeringComment } from './steering-comment.ts'
import { checkDepth, refuseOver, YAML_LIMITS } from './yaml-budget.ts'

/** Maps a 1-based line and column of a text to where it was written. */
export type Locate = (line: number, column: number) => Origin

/**
 * The documents of a YAML or JSON file, one node each; empty ones are dropped. Values are those that kustomize gives
 * them; every node knows its line. Throws `yaml-encoding`, `yaml-ambiguous`, `yaml-syntax` or `render-limits` for
 * everything on which YAML readers disagree and for more than the limits.
 */
export function parseDocuments(file: FileName, bytes: Uint8Array): Node[] {
  return [...parseFile(file, bytes).documents]
}

/** What a file holds; `pieces` is into how many parts kustomize cuts it, empty ones included. */
export interface ParsedFile {
  readonly documents: readonly Node[]
  readonly pieces: number
  readonly text: string
}

/** `parseDocuments` with what else kustomize knows of the file. */
export function parseFile(file: FileName, bytes: Uint8Array): ParsedFile {
  const { repository, path } = file
  const text = decodeText(file, bytes)
  return parseText(text, (line, column) => ({ repository, file: path, line, column }))
}

/** The same for text that was decoded already, such as a patch inside a kustomization.yaml. */
export function parseText(text: string, locate: Locate): ParsedFile {
  const pieces = (text.match(/\n---[^\n]*\n/g)?.length ?? 0) + 1
  return { documents: documentsOf(text, locate), pieces, text }
}

function documentsOf(text: string, locate: Locate): Node[] {
  checkDocuments(text, line => locate(line, 1))
  const lines = new LineCounter()
  const at = (offset: number): Origin => {
    const { line, col } = lines.linePos(offset)
    return locate(Math.max(line, 1), Math.max(col, 1))
  }
  const source: Source = { text, at }
  const composer = new Composer({ schema: 'failsafe', uniqueKeys: false, merge: false, logLevel: 'silent' })
  const nodes: Node[] = []
  const keep = (composed: Iterable<Document>): void => {
    for (const document of composed) {
      const error = document.errors[0]
      if (error) throw syntaxError(at(error.pos[0]), error.code)
      const node = convertDocument(document, source)
      if (node && !(node.type === 'scalar' && node.value === null)) nodes.push(node)
    }
  }
  const steers = maySteer(text)
  let steered: number | undefined
  // one document at a time, so that what it was read from need not be kept
  for (const token of tokensOf(text, lines, at)) {
    checkDepth(token, at)
    if (text.includes('\t')) checkTabs(token, text, at)
    if (steers) steered ??= steeringComment(token)
    keep(composer.next(token))
  }
  keep(composer.end(true, text.length))
  return steered === undefined ? nodes : nodes.map(node => withSteering(node, at(steered)))
}

/** Comments before a document are tokens of their own, so one that steers counts for the whole file. */
function withSteering(node: Node, steered: Origin): Node {
  return node.type === 'map' ? { ...node, steered } : node
}

function* tokensOf(text: string, lines: LineCounter, at: (offset: number) => Origin): Generator<CST.Token> {
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  let documents = 0
  let all = 0
  let inDocument = 0
  const counted = function* (tokens: Iterable<CST.Token>): Generator<CST.Token> {
    for (const token of tokens) {
      if (token.type === 'document' && ++documents > YAML_LIMITS.documents) refuseOver('documents', at(token.offset))
      inDocument = 0
      yield token
    }
  }
  for (const lexeme of new Lexer().lex(text)) {
    if (++all > YAML_LIMITS.fileTokens) refuseOver('fileTokens', at(0))
    if (++inDocument > YAML_LIMITS.documentTokens) refuseOver('documentTokens', at(0))
    yield* counted(parser.next(lexeme))
  }
  yield* counted(parser.end())
}

// The parser's own message may quote the text, which may be a secret: only its code is said.
function syntaxError(origin: Origin, code: string): BailiwickError {
  const message = `${origin.file} is no valid YAML at line ${origin.line} (${code.toLowerCase().replaceAll('_', ' ')})`
  return new BailiwickError('yaml-syntax', message, { origin, fix: 'Correct the syntax at that line.' })
}
