import { BailiwickError } from '../errors.ts'
import type { MapNode, Node, ScalarValue } from '../kube/node.ts'
import { isSealedValue, sealedId } from '../kube/sealed-values.ts'
import type { SopsFormat } from '../kube/sops-formats.ts'
import { parseDocuments } from '../kube/yaml/parse-documents.ts'
import { dataKey, type Identities } from './data-key.ts'
import { decryptObject } from './decrypt-object.ts'
import { decryptYaml } from './decrypt-yaml.ts'
import { readFlatFile } from './flat-file.ts'
import { openValue, sealedType } from './open-value.ts'

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
