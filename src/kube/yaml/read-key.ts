import type { Origin } from '../../origin.ts'
import type { YamlAliases } from './aliases.ts'
import { isSpecialText, isTextKey, plainScalar, textScalar } from './make-scalar.ts'
import { refuseAmbiguous, refuseSyntax } from './refuse-yaml.ts'
import { sharedKey } from './shared-key.ts'
import * as token from './token.ts'
import type { TokenReader } from './token-reader.ts'

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
