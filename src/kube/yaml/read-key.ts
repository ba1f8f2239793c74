import type { Origin } from '../../base/origin.ts'
import type { Node } from '../node.ts'
import { refuseAmbiguous, refuseOver, refuseSyntax, YAML_LIMITS } from './cursor.ts'
import { isSpecialText, isTextKey, plainScalar, textScalar } from './resolve-scalar.ts'
import type { TokenReader } from './tokens.ts'
import * as token from './tokens.ts'

/** A key as it was written. */
export interface Key {
  readonly text: string
  readonly origin: Origin
  /** Written `<<` and nothing else. */
  readonly merges: boolean
  /** As in a field. */
  readonly quoted?: true
  /** Written as an alias: kustomize does not see that a merged map has the same key, and fails. */
  readonly alias: boolean
}

/** Reads a key, `depth` levels below the document. Throws `yaml-ambiguous` for one that is not text for every reader. */
export function readKey(reader: TokenReader, aliases: YamlAliases, depth: number): Key {
  const kind = reader.peek()
  if (kind === token.PLAIN) return plainKey(reader)
  if (kind === token.ALIAS) return aliasKey(reader, aliases, depth)
  if (kind === token.ANCHOR || kind === token.TAG) return keyWithProperties(reader, aliases)
  if (kind > token.PLAIN) return taken(reader, false)
  return noText(reader)
}

function plainKey(reader: TokenReader): Key {
  const text = reader.value()
  if (!isTextKey(token.PLAIN, text)) {
    refuseAmbiguous('a number, date, truth value or nothing as a key, which is not text for YAML', reader.origin())
  }
  return taken(reader, text === '<<')
}

function taken(reader: TokenReader, merges: boolean, isText = reader.peek() > token.PLAIN): Key {
  const key: Key = { text: sharedKey(reader.value()), origin: reader.origin(), merges, alias: false }
  reader.skip()
  return isText ? asText(key) : key
}

const asText = (key: Key): Key => (isSpecialText(key.text) ? { ...key, quoted: true } : key)

function keyWithProperties(reader: TokenReader, aliases: YamlAliases): Key {
  const { anchor, tag } = reader.properties()
  const kind = reader.peek()
  const origin = reader.origin()
  const indent = reader.indent()
  if (kind < token.PLAIN) return noText(reader)
  // what yq writes for a merge key: the tag that the key has anyway
  if (tag === 'merge' && anchor === undefined && kind === token.PLAIN && reader.value() === '<<') {
    return taken(reader, true)
  }
  if (tag !== undefined && tag !== 'str') refuseAmbiguous('a tag', origin)
  const key = tag === undefined && kind === token.PLAIN ? plainKey(reader) : taken(reader, false, true)
  if (key.text === '<<' && kind === token.PLAIN) refuseAmbiguous('an anchor or tag on a merge key', origin)
  if (anchor === undefined) return key
  const plain = tag === undefined && kind === token.PLAIN
  aliases.begin(anchor).node = plain ? plainScalar(key.text, false, origin) : textScalar(kind, key.text, indent, origin)
  return key
}

function aliasKey(reader: TokenReader, aliases: YamlAliases, depth: number): Key {
  const origin = reader.origin()
  const name = reader.value()
  const target = aliases.expand(name, depth, origin)
  reader.skip()
  if (
    target.type !== 'scalar' ||
    typeof target.value !== 'string' ||
    target.style ||
    target.text !== undefined ||
    target.value === '<<'
  ) {
    return refuseAmbiguous('an alias as a key that stands for no plain text', origin)
  }
  const key: Key = { text: target.value, origin, merges: false, alias: true }
  return target.quoted ? asText(key) : key
}

function noText(reader: TokenReader): never {
  const kind = reader.peek()
  const ended = kind === token.STREAM_END || kind === token.DOCUMENT_START || kind === token.DOCUMENT_END
  if (ended) refuseSyntax('a key or closing bracket is missing', reader.origin())
  return refuseAmbiguous('a key that is no plain text', reader.origin())
}

/** UTF-16 units of all keys that are kept, then they are forgotten. A fleet has some thousand different keys. */
const KEPT = 64 * 1024

const known = new Map<string, string>()
let units = 0

/**
 * The key of a map as one string for all maps and tables: a lookup then compares addresses instead of texts. A part of a
 * file's text would also keep all of that text in memory.
 */
export function sharedKey(text: string): string {
  const shared = known.get(text)
  if (shared !== undefined) return shared
  if (text.length > KEPT) return text
  units += text.length
  if (units > KEPT) {
    known.clear()
    units = text.length
  }
  // JavaScript has one string for each name of a property, which is also that of constants and of parsed JSON
  const [made = text] = Object.keys({ [text]: 0 })
  known.set(made, made)
  return made
}

/** What a name stands for, once it is read. */
interface Anchored {
  node: Node | undefined
}

interface Extent {
  readonly values: number
  readonly height: number
}

/** The anchors of one document, and what its aliases make of them. */
export class YamlAliases {
  private readonly anchors = new Map<string, Anchored>()
  private readonly extents = new Map<Node, Extent>()
  private readonly expansion: Expansion
  private aliases = 0

  constructor(expansion: Expansion) {
    this.expansion = expansion
  }

  /** From here on the name stands for a value that is not read yet; inside of it the name may begin anew. */
  begin(anchor: string): Anchored {
    const anchored = { node: undefined }
    this.anchors.set(anchor, anchored)
    return anchored
  }

  /**
   * What the alias stands for, `depth` levels below the document. Throws `yaml-syntax` for nothing and for itself, and
   * `render-limits`.
   */
  expand(name: string, depth: number, origin: Origin): Node {
    if (++this.aliases > YAML_LIMITS.aliases) refuseOver('aliases', origin)
    const target = this.anchors.get(name)?.node
    if (!target) return refuseSyntax('an alias without an anchor of that name', origin)
    const { values, height } = this.extent(target)
    this.expansion.spend(values, origin)
    if (depth + height > YAML_LIMITS.depth) refuseOver('depth', origin)
    return target
  }

  private extent(node: Node): Extent {
    if (node.type === 'scalar') {
      const text = typeof node.value === 'string' ? node.value.length : 0
      return { values: 1 + Math.floor(text / 64), height: 0 }
    }
    const known = this.extents.get(node)
    if (known) return known
    let values = 1
    let height = 0
    const add = (child: Node): void => {
      const extent = this.extent(child)
      values += extent.values
      height = Math.max(height, extent.height + 1)
    }
    if (node.type === 'list') for (const item of node.items) add(item)
    else for (const field of node.fields.values()) add(field.value)
    const extent = { values, height }
    this.extents.set(node, extent)
    return extent
  }
}

/** How many values the aliases and merge keys of one file have made. */
export class Expansion {
  private values = 0

  /** Throws `render-limits` for too many. */
  spend(values: number, origin: Origin): void {
    this.values += values
    if (this.values > YAML_LIMITS.expanded) refuseOver('expanded', origin)
  }
}
