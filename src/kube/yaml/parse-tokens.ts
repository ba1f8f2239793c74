import type { Origin } from '../../base/origin.ts'
import { type Field, fieldLike, type MapNode, type Node } from '../node.ts'
import { type Position, refuseAmbiguous, refuseOver, refuseSyntax, refuseUndecided, YAML_LIMITS } from './cursor.ts'
import { Expansion, type Key, readKey, YamlAliases } from './read-key.ts'
import { absentScalar, plainScalar, textScalar } from './resolve-scalar.ts'
import * as token from './tokens.ts'
import { DOCUMENT_END, DOCUMENT_START, STREAM_END, type TokenList, TokenReader } from './tokens.ts'

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

/**
 * Reads the node of one document; the reader is then at what follows it. Values are those that kustomize gives them,
 * aliases are replaced by what they stand for (`expansion` counts that). Throws `yaml-syntax`, `yaml-ambiguous` or `render-limits`.
 */
function parseDocument(reader: TokenReader, expansion: Expansion): Node {
  return new DocumentParser(reader, expansion).node(1, true, false)
}

class DocumentParser {
  private readonly reader: TokenReader
  private readonly expansion: Expansion
  private readonly aliases: YamlAliases
  private readonly aliasFields = new Set<Field>()
  /** How many brackets are around the reader. */
  private flow = 0

  constructor(reader: TokenReader, expansion: Expansion) {
    this.reader = reader
    this.expansion = expansion
    this.aliases = new YamlAliases(expansion)
  }

  /** `indentless`: entries of a list may stand at the column of the map around them. */
  node(depth: number, block: boolean, indentless: boolean): Node {
    const { reader } = this
    const kind = reader.peek()
    if (depth > YAML_LIMITS.depth) refuseOver('depth', reader.origin())
    if (kind >= token.PLAIN) return this.scalar(kind)
    if (kind === token.ALIAS) {
      const node = this.aliases.expand(reader.value(), depth, reader.origin())
      reader.skip()
      return node
    }
    if (kind === token.ANCHOR || kind === token.TAG) return this.withProperties(depth, block, indentless)
    return this.collection(kind, depth, block, indentless) ?? this.unexpected('a value is missing')
  }

  private scalar(kind: number): Node {
    const { reader } = this
    const origin = reader.origin()
    const value = reader.value()
    const node =
      kind === token.PLAIN
        ? plainScalar(value, this.flow > 0, origin)
        : textScalar(kind, value, reader.indent(), origin)
    const commented = reader.comments()
    reader.skip()
    return commented === undefined ? node : { ...node, commented }
  }

  private withProperties(depth: number, block: boolean, indentless: boolean): Node {
    const { reader } = this
    const { anchor, tag } = reader.properties()
    const anchored = anchor === undefined ? undefined : this.aliases.begin(anchor)
    const node = tag === undefined ? this.bare(depth, block, indentless) : this.tagged(tag)
    if (anchored) anchored.node = node
    return node
  }

  private bare(depth: number, block: boolean, indentless: boolean): Node {
    const kind = this.reader.peek()
    if (kind >= token.PLAIN) return this.scalar(kind)
    return this.collection(kind, depth, block, indentless) ?? absentScalar(this.reader.originBehind())
  }

  private tagged(tag: string): Node {
    const { reader } = this
    const origin = reader.origin()
    const kind = reader.peek()
    if (tag === 'str' && kind >= token.PLAIN) {
      const node = textScalar(kind, reader.value(), reader.indent(), origin)
      const commented = reader.comments()
      reader.skip()
      return commented === undefined ? node : { ...node, commented }
    }
    const list = kind === token.BLOCK_LIST_START || kind === token.BLOCK_ENTRY || kind === token.FLOW_LIST_START
    const map = kind === token.BLOCK_MAP_START || kind === token.FLOW_MAP_START
    if (tag === 'str' && !list && !map) return textScalar(token.SINGLE_QUOTED, '', 0, reader.originBehind())
    // A plain password may begin with ! or * too, so the message quotes neither a tag nor an alias nor a value.
    return refuseAmbiguous('a tag', origin)
  }

  private collection(kind: number, depth: number, block: boolean, indentless: boolean): Node | undefined {
    if (kind === token.FLOW_LIST_START) return this.flowList(depth)
    if (kind === token.FLOW_MAP_START) return this.flowMap(depth)
    if (block && kind === token.BLOCK_MAP_START) return this.blockMap(depth)
    if (block && kind === token.BLOCK_LIST_START) return this.blockList(depth)
    return indentless && kind === token.BLOCK_ENTRY ? this.indentlessList(depth) : undefined
  }

  private blockList(depth: number): Node {
    const { reader } = this
    const origin = reader.origin()
    const items: Node[] = []
    reader.skip()
    while (reader.peek() === token.BLOCK_ENTRY) {
      reader.skip()
      const kind = reader.peek()
      const empty = kind === token.BLOCK_ENTRY || kind === token.BLOCK_END
      items.push(empty ? absentScalar(reader.originBehind()) : this.node(depth + 1, true, false))
    }
    this.expect(token.BLOCK_END, 'a list item without its dash; check the indentation')
    return { type: 'list', items, origin }
  }

  private indentlessList(depth: number): Node {
    const { reader } = this
    const origin = reader.origin()
    const items: Node[] = []
    while (reader.peek() === token.BLOCK_ENTRY) {
      reader.skip()
      const kind = reader.peek()
      const empty = kind === token.BLOCK_ENTRY || endsBlockValue(kind)
      items.push(empty ? absentScalar(reader.originBehind()) : this.node(depth + 1, true, false))
    }
    return { type: 'list', items, origin }
  }

  private blockMap(depth: number): MapNode {
    const { reader } = this
    let origin = reader.origin()
    let implied = reader.isImplied()
    const builder = new MapBuilder(this.aliasFields, this.expansion)
    reader.skip()
    while (reader.peek() === token.KEY) {
      reader.skip()
      const key = readKey(reader, this.aliases, depth + 1)
      // an anchor or tag may stand before the first key
      if (implied) origin = key.origin
      implied = false
      builder.add(key, this.blockValue(depth + 1, key))
    }
    this.expect(token.BLOCK_END, 'a key is missing; check the indentation')
    return builder.finish(origin)
  }

  private blockValue(depth: number, key: Key): Node {
    const { reader } = this
    if (reader.peek() !== token.VALUE) return absentScalar(key.origin)
    reader.skip()
    const noted = reader.isNoted()
    const node = endsBlockValue(reader.peek()) ? absentScalar(reader.originBehind()) : this.node(depth, true, true)
    return noted ? { ...node, noted } : node
  }

  private flowList(depth: number): Node {
    const { reader } = this
    const origin = reader.origin()
    const items: Node[] = []
    reader.skip()
    this.flow++
    while (this.hasMore(token.FLOW_LIST_END, items.length === 0)) {
      items.push(reader.peek() === token.KEY ? this.pair(depth + 1) : this.node(depth + 1, false, false))
    }
    this.flow--
    reader.skip()
    return { type: 'list', items, origin, flow: true }
  }

  /** `[a: b]` is a list of a map. */
  private pair(depth: number): Node {
    const { reader } = this
    const origin = reader.origin()
    const implied = reader.isImplied()
    reader.skip()
    const builder = new MapBuilder(this.aliasFields, this.expansion)
    const key = readKey(reader, this.aliases, depth + 1)
    builder.add(key, this.flowValue(depth + 1, key, true))
    return { ...builder.finish(implied ? key.origin : origin), flow: true }
  }

  private flowMap(depth: number): MapNode {
    const { reader } = this
    const origin = reader.origin()
    const builder = new MapBuilder(this.aliasFields, this.expansion)
    reader.skip()
    this.flow++
    for (let first = true; this.hasMore(token.FLOW_MAP_END, first); first = false) {
      const marked = reader.peek() === token.KEY
      if (marked) reader.skip()
      const key = readKey(reader, this.aliases, depth + 1)
      builder.add(key, this.flowValue(depth + 1, key, marked))
    }
    this.flow--
    reader.skip()
    return { ...builder.finish(origin), flow: true }
  }

  /** `marked`: not a lone scalar that turned out to be no key. */
  private flowValue(depth: number, key: Key, marked: boolean): Node {
    const node = marked ? this.flowValueOrAbsent(depth, key) : absentScalar(key.origin)
    // Written back, an empty value between braces becomes an empty text. What looks like a key may be a password.
    if (node.type === 'scalar' && node.text === '') refuseAmbiguous('a key without a value between braces', key.origin)
    return node
  }

  private flowValueOrAbsent(depth: number, key: Key): Node {
    const { reader } = this
    if (reader.peek() !== token.VALUE) return absentScalar(key.origin)
    reader.skip()
    const kind = reader.peek()
    const empty = kind === token.FLOW_ENTRY || kind === token.FLOW_MAP_END || kind === token.FLOW_LIST_END
    return empty ? absentScalar(reader.originBehind()) : this.node(depth, false, false)
  }

  /** Whether brackets go on, past the comma; the reader is at their end otherwise. */
  private hasMore(end: number, first: boolean): boolean {
    const { reader } = this
    if (reader.peek() === end) return false
    if (first) return true
    this.expect(token.FLOW_ENTRY, 'a comma or closing bracket is missing')
    return reader.peek() !== end
  }

  private expect(kind: number, problem: string): void {
    if (this.reader.peek() !== kind) this.unexpected(problem)
    this.reader.skip()
  }

  private unexpected(problem: string): never {
    return refuseSyntax(problem, this.reader.origin())
  }
}

function endsBlockValue(kind: number): boolean {
  return kind === token.KEY || kind === token.VALUE || kind === token.BLOCK_END
}

/** Puts the fields of one map together; merge keys are merged at its end. */
class MapBuilder {
  private readonly fields = new Map<string, Field>()
  private readonly aliasFields: Set<Field>
  private readonly expansion: Expansion
  private merged: Node | undefined

  /** `aliasFields` is that of the document: a merged map brings its own. */
  constructor(aliasFields: Set<Field>, expansion: Expansion) {
    this.aliasFields = aliasFields
    this.expansion = expansion
  }

  /** Throws `yaml-ambiguous` for a key that the map has already. */
  add(key: Key, value: Node): void {
    if (key.merges) {
      if (this.merged) refuseAmbiguous('a second merge key in one map', key.origin)
      this.merged = value
      return
    }
    const field = fieldLike(key, key.origin, value)
    if (key.alias) this.aliasFields.add(field)
    const before = this.fields.size
    this.fields.set(key.text, field)
    if (this.fields.size === before) refuseTwice(key.text, '', key.origin)
  }

  /** Throws `render-limits` where merge keys copy too much. */
  finish(origin: Origin): MapNode {
    return { type: 'map', fields: this.merged ? this.merge(this.merged) : this.fields, origin }
  }

  private mergedField(field: Field): Field {
    const merged: Field = { ...field, merged: true }
    if (this.aliasFields.has(field)) this.aliasFields.add(merged)
    return merged
  }

  /** Keys of the map itself win; of several merged maps the first that has a key wins (YAML merge key type). */
  private merge(merged: Node): Map<string, Field> {
    const sources = merged.type === 'list' ? merged.items : [merged]
    const all = new Map<string, Field>()
    for (const source of [...sources].reverse()) {
      if (source.type !== 'map') refuseAmbiguous('a merge key whose value is no map', source.origin)
      this.expansion.spend(source.fields.size, source.origin)
      for (const [key, field] of source.fields) all.set(key, this.mergedField(field))
    }
    for (const [key, field] of this.fields) {
      const other = all.get(key)
      if (other && (this.aliasFields.has(field) || this.aliasFields.has(other))) {
        refuseTwice(key, ', once by an alias', field.key)
      }
      all.set(key, field)
    }
    return all
  }
}

function refuseTwice(key: string, how: string, origin: Origin): never {
  return refuseUndecided(`the key ${JSON.stringify(key.slice(0, 100))} twice${how}`, origin)
}
