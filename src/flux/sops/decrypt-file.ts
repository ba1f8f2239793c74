import { BailiwickError } from '../../base/errors.ts'
import { type MapNode, type Node, type ScalarNode, type ScalarValue, withoutField } from '../../kube/node.ts'
import { isSealedValue, type SopsFormat, sealedId } from '../../kube/sops.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'
import { resolvePlain } from '../../kube/yaml/resolve-scalar.ts'
import { isPlainText } from '../../kustomize/replace/edit-path.ts'
import { dataKey, decryptObject, type Identities, openValue, sealedType } from './decrypt-object.ts'
import { readFlatFile } from './encrypted-values.ts'

/**
 * A file in clear, byte for byte as `sops decrypt` writes it (getsops/sops, stores), which names of generated objects depend
 * on. Every value that must be sealed is, and for its own place. Throws `cluster-invalid`, without any value.
 */
export async function decryptFile(text: string, format: SopsFormat, identities: Identities): Promise<Uint8Array> {
  if (format === 'yaml') return await decryptYaml(text, identities)
  if (format === 'json') return await decryptJson(readJson(text).root, identities)
  const file = format === 'dotenv' ? readDotenv(text) : readJson(text)
  const key = file.block && (await dataKey(file.block, identities))
  if (!key) throw cannot('none of the keys opens it', 'Encrypt it for a key of the Secret that spec.decryption names.')
  try {
    if ('lines' in file) return Buffer.concat(file.lines.map(line => openLine(line, key)))
    const data = file.root.fields.get('data')?.value
    if (data?.type !== 'scalar' || typeof data.value !== 'string') throw cannot('it has no data', AGAIN)
    return opened(data.value, key, 'data:', ['str', 'bytes'])
  } finally {
    key.fill(0)
  }
}

const AGAIN = 'Encrypt the file again.'

interface Dotenv {
  readonly lines: readonly string[]
  readonly block: Node | undefined
}

interface JsonFile {
  readonly root: MapNode
  readonly block: Node | undefined
}

function readDotenv(text: string): Dotenv {
  const lines = text.split('\n').filter(line => line !== '' && !line.startsWith('sops_'))
  return { lines, block: readFlatFile({ repository: '', file: 'secret.env' }, text)?.fields.get('sops')?.value }
}

function openLine(line: string, key: Uint8Array): Buffer {
  if (line.startsWith('#')) return Buffer.concat([HASH, opened(line.slice(1), key, ':', ['comment']), BREAK])
  const equals = line.indexOf('=')
  if (equals < 0) throw cannot('a line has no =', AGAIN)
  const name = line.slice(0, equals)
  const value = line.slice(equals + 1)
  const plain = value === '' ? Buffer.alloc(0) : opened(value, key, `${name}:`, ['str'])
  return Buffer.concat([Buffer.from(`${name}=`), escaped(plain), BREAK])
}

const HASH = Buffer.from('#')
const BREAK = Buffer.from('\n')

/** Line breaks as the two characters that stand for one. */
const escaped = (bytes: Buffer): Buffer => Buffer.from(bytes.toString('latin1').replaceAll('\n', '\\n'), 'latin1')

function readJson(text: string): JsonFile {
  try {
    const [root, ...others] = parseDocuments({ repository: '', path: 'secret' }, Buffer.from(text))
    if (root?.type !== 'map' || others.length > 0) throw cannot('it is not one JSON object', AGAIN)
    return { root, block: root.fields.get('sops')?.value }
  } catch (error) {
    // the words of a parser quote the file
    if (error instanceof BailiwickError) throw cannot('it is not one JSON object', AGAIN)
    throw error
  }
}

interface Place {
  /** A list adds nothing to it. */
  readonly path: readonly string[]
  readonly depth: number
}

type Values = ReadonlyMap<string, ScalarValue>

async function decryptJson(root: MapNode, identities: Identities): Promise<Uint8Array> {
  const values = await decryptObject(root, identities)
  return Buffer.from(`${json(root, values, { path: [], depth: 0 })}\n`)
}

/** JSON as Go writes it, indented by tabs. */
function json(node: Node, values: Values, { path, depth }: Place): string {
  if (node.type === 'scalar') return scalar(node.value, values, path)
  const parts =
    node.type === 'list'
      ? node.items.map(item => json(item, values, { path, depth: depth + 1 }))
      : [...node.fields]
          .filter(([name]) => depth > 0 || name !== 'sops')
          .map(
            ([name, { value }]) =>
              `${goString(name)}: ${json(value, values, { path: [...path, name], depth: depth + 1 })}`,
          )
  const [open, close] = node.type === 'list' ? '[]' : '{}'
  if (parts.length === 0) return `${open}${close}`
  const indent = '\t'.repeat(depth + 1)
  return `${open}\n${parts.map(part => `${indent}${part}`).join(',\n')}\n${'\t'.repeat(depth)}${close}`
}

function scalar(value: ScalarValue, values: Values, path: readonly string[]): string {
  const isSealed = typeof value === 'string' && isSealedValue(value)
  if (isSealed && sealedType(value) === 'bytes') throw cannot('a value of it was encrypted as bytes', AGAIN)
  const plain = isSealed ? (values.get(sealedId(path, value)) ?? null) : value
  if (typeof plain === 'string') return goString(plain)
  // beyond these, Go writes an exponent
  const size = Math.abs(Number(plain))
  const isShort = Number.isInteger(plain) ? size <= Number.MAX_SAFE_INTEGER : size >= 1e-6 && size < 1e15
  if (typeof plain !== 'number' || (isShort && !Object.is(plain, -0))) return String(plain)
  throw cannot('a number of it has a form that is not supported', 'Write it as text.')
}

function opened(value: string, key: Uint8Array, place: string, types: readonly string[]): Buffer {
  if (!isSealedValue(value)) throw cannot('a value of it is not encrypted', AGAIN)
  if (!types.includes(sealedType(value))) throw cannot(`a value of it was encrypted as ${sealedType(value)}`, AGAIN)
  const plain = openValue(value, key, place)
  if (plain) return plain
  throw cannot('a value of it was not encrypted for its place, or was changed since then', AGAIN)
}

const goString = (text: string): string =>
  JSON.stringify(text).replace(/[<>&\u2028\u2029]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)

function cannot(what: string, fix: string): BailiwickError {
  return new BailiwickError('cluster-invalid', `cannot be decrypted: ${what}`, { fix })
}

/**
 * A YAML file in clear, byte for byte as `sops decrypt` writes it, but for comments, which are left out. Throws
 * `cluster-invalid`, without any value: as decryptObject, and for what is not known how sops writes it.
 */
async function decryptYaml(text: string, identities: Identities): Promise<Uint8Array> {
  const root = readMap(text)
  const values = await decryptObject(root, identities)
  const written = writeYamlFile(withoutField(root, 'sops'), (node, path) => plainOf(node, path, values))
  if (typeof written === 'string') return Buffer.from(written)
  const where = written.path.join('.').slice(0, 200)
  throw cannot(`${where} ${written.reason}`, 'Write it in another form, as text in quotes, and encrypt the file again.')
}

function readMap(text: string): MapNode {
  const refused = () => cannot('it is not one YAML document with a map', 'Encrypt the file again.')
  try {
    const [root, ...others] = parseDocuments({ repository: '', path: 'secret' }, Buffer.from(text))
    if (root?.type === 'map' && others.length === 0) return root
  } catch (error) {
    // the words of a parser quote the file
    if (error instanceof BailiwickError) throw refused()
    throw error
  }
  throw refused()
}

const TIMESTAMP = /^\d{4}-\d{1,2}-\d{1,2}/

/** The value that is written; what it is for Go must be known, not only what its text says. */
function plainOf(
  { value, quoted, style, text = '' }: ScalarNode,
  path: readonly string[],
  values: ReadonlyMap<string, ScalarValue>,
): ScalarValue | NotWritten {
  const isSealed = typeof value === 'string' && isSealedValue(value)
  if (isSealed) {
    const type = sealedType(value)
    const plain = values.get(sealedId(path, value))
    if (plain === undefined || type === 'bytes') return { path, reason: `was encrypted as ${type}` }
    return type === 'float' && !isShortFloat(plain)
      ? { path, reason: 'is a number of a form that is not supported' }
      : plain
  }
  const isPlain = !quoted && style === undefined
  if (isPlain && typeof value === 'string' && TIMESTAMP.test(value)) return { path, reason: 'is a date' }
  const isFloat = typeof value === 'number' && (!Number.isInteger(value) || /[.eE]/.test(text))
  return isFloat && !isShortFloat(value) ? { path, reason: 'is a number of a form that is not supported' } : value
}

/** Those that Go and JavaScript write in the same way. */
function isShortFloat(value: ScalarValue): boolean {
  const size = Math.abs(Number(value))
  return typeof value === 'number' && (size === 0 || (size >= 0.0001 && size < 1e6)) && !Object.is(value, -0)
}

/** What is not known how sops writes it, and where it stands. */
interface NotWritten {
  readonly path: readonly string[]
  readonly reason: string
}

type ReadValue = (node: ScalarNode, path: readonly string[]) => ScalarValue | NotWritten

/** Where a value stands: columns of its parent, and whether that is a list. A list adds nothing to `path`. */
interface WritePlace {
  readonly path: readonly string[]
  readonly indent: number
  readonly inList: boolean
}

const INDENT = 4

/**
 * A document as sops writes a YAML file in clear (getsops/sops stores/yaml, with the encoder of go.yaml.in/yaml/v3, 4 columns
 * for each level), or what in it is not known how that writes it. `read`: what is written of a scalar.
 */
function writeYamlFile(root: MapNode, read: ReadValue): string | NotWritten {
  const writer = new Writer(read)
  const text = root.fields.size === 0 ? '{}' : writer.fields(root, { path: [], indent: 0, inList: false })
  return writer.unknown ?? `${text}\n`
}

class Writer {
  unknown: NotWritten | undefined
  readonly #read: ReadValue

  constructor(read: ReadValue) {
    this.#read = read
  }

  /** Lines of a map, the first one without its columns. */
  fields(map: MapNode, { path, indent }: WritePlace): string {
    const lines = [...map.fields].map(([name, { value, merged }]) => {
      const inner = [...path, name]
      if (merged) this.#give(inner, 'comes from a merge key')
      return `${this.#key(name, inner)}:${this.#after(value, { path: inner, indent, inList: false })}`
    })
    return lines.join(`\n${' '.repeat(indent)}`)
  }

  /** What stands behind a key. */
  #after(node: Node, place: WritePlace): string {
    if (node.type === 'scalar') return ` ${this.#scalar(node, place)}`
    const isEmpty = node.type === 'map' ? node.fields.size === 0 : node.items.length === 0
    if (isEmpty) return node.type === 'map' ? ' {}' : ' []'
    return `\n${' '.repeat(below(place))}${this.#block(node, place)}`
  }

  #block(node: Exclude<Node, ScalarNode>, place: WritePlace): string {
    const indent = below(place)
    if (node.type === 'map') return this.fields(node, { ...place, indent })
    const items = node.items.map(item => `- ${this.#item(item, { path: place.path, indent, inList: true })}`)
    return items.join(`\n${' '.repeat(indent)}`)
  }

  #item(node: Node, place: WritePlace): string {
    if (node.type === 'scalar') return this.#scalar(node, place)
    if (node.type === 'map') return node.fields.size === 0 ? '{}' : this.#block(node, place)
    return node.items.length === 0 ? '[]' : this.#block(node, place)
  }

  #scalar(node: ScalarNode, place: WritePlace): string {
    const value = this.#read(node, place.path)
    if (value !== null && typeof value === 'object') return this.#give(value.path, value.reason)
    return typeof value === 'string' ? this.#text(value, place) : String(value)
  }

  #key(name: string, path: readonly string[]): string {
    const resolved = resolvePlain(name)
    // for go-yaml it may be no text, and quotes in the file are not known any more
    if (typeof resolved !== 'string' || name === '<<' || name === '' || name.length > 100 || name.includes('\n'))
      return this.#give(path, 'has a key that is long, or no plain word')
    return this.#text(name, { path, indent: 0, inList: false })
  }

  #text(text: string, place: WritePlace): string {
    if (text.includes('\n')) return this.#literal(text, place)
    if (!PRINTABLE.test(text)) return this.#give(place.path, 'has special characters')
    const resolved = resolvePlain(text)
    if (resolved === undefined || text === '<<') return this.#give(place.path, 'looks like a number or a date')
    const isText = text !== '' && resolved === text && !NO_TEXT.test(text)
    if (!isText) return `"${text.replace(/["\\]/g, '\\$&')}"`
    return isPlainText(text) ? text : `'${text.replaceAll("'", "''")}'`
  }

  #literal(text: string, place: WritePlace): string {
    const isUsual = !/[^\n -~\u00a0-\ud7ff]| (?:\n|$)|^\s|\n\n$/.test(text)
    if (!isUsual) return this.#give(place.path, 'is an unusual text of several lines')
    const margin = ' '.repeat(below(place))
    const lines = text.replace(/\n$/, '').split('\n')
    const body = lines.map(line => (line === '' ? '' : `${margin}${line}`)).join('\n')
    return `|${text.endsWith('\n') ? '' : '-'}\n${body}`
  }

  #give(path: readonly string[], reason: string): string {
    this.unknown ??= { path, reason }
    return ''
  }
}

/** yaml_emitter_increase_indent: below a list only what the dash takes, elsewhere the next level. */
function below({ indent, inList }: WritePlace): number {
  return inList ? indent + 2 : INDENT * Math.floor((indent + INDENT) / INDENT)
}

const PRINTABLE = /^[ -~\u00a0-\ud7ff]*$/

/** Texts that go-yaml puts in quotes for readers of YAML 1.1. */
const NO_TEXT = /^(?:[yYnN]|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?)$/
