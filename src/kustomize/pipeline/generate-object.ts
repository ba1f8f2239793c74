import { hash } from 'node:crypto'
import { BailiwickError } from '../../base/errors.ts'
import type { Origin, Step } from '../../base/origin.ts'
import {
  at,
  type Field,
  type MapNode,
  mapNode,
  type Node,
  withField,
  withValueAt,
  writtenText,
} from '../../kube/node.ts'
import type { BuildBudget } from '../build-budget.ts'
import type { Entry, GeneratorEntry } from '../entry.ts'
import { isRemote } from '../paths.ts'
import { isUnknown, makeResource, type Resource, resourceOrigin } from '../resource/resource.ts'
import { checkCharacters, toPlain, valueNode } from '../resource/round-trip.ts'

/** What a generator needs beside its entry. */
export interface GeneratorContext {
  /** The kustomization file (or the file of `generators`) that generates the object. */
  readonly file: string
  readonly budget: BuildBudget
  /** Throws `kustomize-missing` where the file does not exist. */
  readonly read: ReadBytes
}

/**
 * The ConfigMap or Secret of one generator entry; each value stands where it was written: its literal, the line of its
 * env file, the start of its file. Throws what reading its sources throws.
 */
export function generateObject(entry: GeneratorEntry, { file, budget, read }: GeneratorContext): Resource {
  const step: Step = { step: 'generator', file, line: entry.origin.line }
  const pairs = readPairs(entry, read)
  budget.spend('steps', 10 * pairs.length + 10, entry.origin)
  let root = emptyObject(entry)
  const isSecret = entry.kind === 'Secret'
  if (isSecret) root = withField(root, 'type', valueNode(entry.type?.text ?? 'Opaque', (entry.type ?? entry).origin))
  const [data, binaryData] = isSecret ? [pairs.map(pair => inBase64(pair, step)), []] : splitByEncoding(pairs, step)
  if (isSecret || data.length > 0) root = withField(root, 'data', mapOf(data, entry.origin))
  if (binaryData.length > 0) root = withField(root, 'binaryData', mapOf(binaryData, entry.origin))
  const { immutable, disableNameSuffixHash } = entry.options
  if (immutable) root = withField(root, 'immutable', { type: 'scalar', value: true, origin: immutable.origin })
  const behavior = entry.behavior === 'unspecified' ? {} : { behavior: entry.behavior }
  return makeResource(root, [step], { needsHash: !disableNameSuffixHash, ...behavior })
}

function emptyObject({ kind, origin, name, namespace, options }: GeneratorEntry): MapNode {
  const metadata: [string, Node][] = [['name', textOf(name)]]
  if (namespace) metadata.push(['namespace', textOf(namespace)])
  for (const field of ['labels', 'annotations'] as const) {
    const pairs = options[field]
    if (pairs.length > 0)
      metadata.push([
        field,
        mapOf(
          pairs.map(([key, entry]) => [key, textOf(entry)]),
          origin,
        ),
      ])
  }
  const fields: [string, Node][] = [
    ['apiVersion', valueNode('v1', origin)],
    ['kind', valueNode(kind, origin)],
    ['metadata', mapNode(metadata, origin)],
  ]
  return mapNode(fields, origin)
}

const textOf = (entry: Entry): Node => valueNode(entry.text, entry.origin)

type Entries = (readonly [string, Node])[]

/** What is UTF-8 goes to `data`, anything else in base64 to `binaryData`. */
function splitByEncoding(pairs: readonly Pair[], step: Step): [Entries, Entries] {
  const data: Entries = []
  const binary: Entries = []
  for (const pair of pairs) {
    const { key, value, origin } = pair
    const text = typeof value === 'string' ? value : decodeUtf8(value)
    if (text === undefined) binary.push(inBase64(pair, step))
    else data.push([key, valueNode(text, from(origin, step))])
  }
  return [data, binary]
}

function inBase64({ key, value, origin, unknown }: Pair, step: Step): readonly [string, Node] {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value
  const node = valueNode(encodeBase64(bytes), from(origin, step))
  return [key, unknown ? { ...node, opaque: [] } : node]
}

/** A value of another file came here through the entry that names the file. */
function from(origin: Origin, step: Step): Origin {
  return origin.file === step.file ? origin : { ...origin, via: [step] }
}

function mapOf(entries: Entries, origin: Origin): MapNode {
  const fields = new Map<string, Field>()
  for (const [key, value] of entries) fields.set(key, { key: value.origin, value })
  return { type: 'map', fields, origin }
}

const LINE = 70

/** Base64 as kustomize writes it into a Secret: in lines of 70 characters, each with its end, where one is not enough. */
function encodeBase64(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  if (text.length < LINE) return text
  let folded = ''
  for (let start = 0; start < text.length; start += LINE) folded += `${text.slice(start, start + LINE)}\n`
  return folded
}

/** A file that an entry of a kustomization names: its path in the tree and its bytes. */
type ReadBytes = (entry: Entry) => {
  readonly path: string
  readonly bytes: Uint8Array
  /** Flux decrypts it before the build. */
  readonly unknown: boolean
}

/** One key of a generated object; the value stands where it was written. */
interface Pair {
  readonly key: string
  readonly value: string | Uint8Array
  readonly origin: Origin
  /** Flux decrypts the value before the build; here it is as it is encrypted. */
  readonly unknown?: true
}

/**
 * Keys and values of a generator: of its env files, its literals and its files (api/kv/kv.go, 5.8.1). Throws
 * `kustomize-invalid` for a key twice and for what kustomize cannot write as a key, `kustomize-unsupported` for what is
 * encrypted and cannot be read in part.
 */
function readPairs(entry: GeneratorEntry, read: ReadBytes): Pair[] {
  const local = (path: Entry): ReturnType<ReadBytes> => readLocal(entry, path, read)
  const pairs = [
    ...entry.envs.flatMap(path => envPairs(local(path), path)),
    ...entry.literals.map(literalPair),
    ...entry.files.map(file => filePair(file, local)),
  ]
  const seen = new Set<string>()
  for (const { key, origin } of pairs) {
    checkCharacters(key, origin)
    if (seen.has(key)) fail(`${entry.kind} generator: the key ${JSON.stringify(key)} is set twice`, origin)
    seen.add(key)
  }
  return pairs
}

function readLocal(entry: GeneratorEntry, path: Entry, read: ReadBytes): ReturnType<ReadBytes> {
  if (isRemote(path.text)) {
    const identity = `a file of ${entry.name.text} is fetched from outside this repository`
    throw new BailiwickError(
      'kustomize-unsupported',
      `${entry.kind} generator ${entry.name.text}: a file is an address. Allowed: files of this repository`,
      {
        origin: path.origin,
        rule: 'kustomize-remote-base',
        fix: 'Copy the file into this repository, and list its path.',
        identity,
      },
    )
  }
  const file = read(path)
  if (!file.unknown || entry.kind === 'Secret') return file
  const message = `${file.path}: Flux decrypts this file before the build, so its content would be plain text in a ConfigMap`
  throw new BailiwickError('kustomize-unsupported', message, {
    origin: path.origin,
    fix: 'Use the file in a secretGenerator.',
  })
}

function envPairs(file: ReturnType<ReadBytes>, path: Entry): Pair[] {
  const origin = { ...path.origin, file: file.path, line: 1, column: 1 }
  const lines = readEnvFile(file.bytes, origin)
  if (!file.unknown) return lines.map(({ key, value, line }) => ({ key, value, origin: { ...origin, line } }))
  // of every other format the keys would be made of what is decrypted
  if (/\.(?:ya?ml|json|ini)$/.test(path.text) || !lines.some(({ key }) => key === 'sops_mac')) {
    const message = `${file.path}: encrypted, but not an env file, so its keys are unknown`
    const fix = 'Encrypt the file as dotenv, or list it under `files`.'
    throw new BailiwickError('kustomize-unsupported', message, { origin: path.origin, fix })
  }
  const own = lines.filter(({ key }) => !key.startsWith(SOPS_PREFIX))
  return own.map(({ key, value, line }) => ({ key, value, origin: { ...origin, line }, unknown: true }))
}

/** Of the keys that SOPS writes into an env file beside those that it encrypts. */
const SOPS_PREFIX = 'sops_'

function literalPair({ text, origin }: Entry): Pair {
  const equals = text.indexOf('=')
  if (equals <= 0) fail('literals: an item is not key=value', origin)
  return { key: text.slice(0, equals), value: unquote(text.slice(equals + 1)), origin }
}

/** A literal loses one pair of matching quotes around its value. */
function unquote(value: string): string {
  const first = value.charAt(0)
  return value.length >= 2 && (first === '"' || first === "'") && value.endsWith(first) ? value.slice(1, -1) : value
}

function filePair(source: Entry, read: ReadBytes): Pair {
  const parts = source.text.split('=')
  const [first, path] = parts as [string, string?]
  if (parts.length > 2 || path === '' || (path !== undefined && first === '')) {
    fail('files: an item is neither a path nor key=path', source.origin)
  }
  const file = read(path === undefined ? source : { ...source, text: path })
  const key = path === undefined ? baseName(first) : first
  const origin = { ...source.origin, file: file.path, line: 1, column: 1 }
  return { key, value: file.bytes, origin, ...(file.unknown ? { unknown: true } : {}) }
}

const baseName = (path: string): string => path.split('/').findLast(part => part !== '') ?? ''

function fail(message: string, origin: Origin): never {
  throw new BailiwickError('kustomize-invalid', message, { origin })
}

const NEWLINE = 0x0a
/** Go's line scanner gives up at 64 KiB without a word, and the rest of the file is lost. */
const MAX_LINE = 65_000

/** White space as Go has it: that of JavaScript with U+0085 and without the byte order mark. */
const LEADING_SPACE = /^[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/

interface EnvLine {
  readonly key: string
  readonly value: string
  readonly line: number
}

/**
 * The `key=value` lines of an env file as kustomize 5.8.1 reads it: comments and lines without a key are passed over, a
 * key alone has an empty value (never one of our own environment), nothing is trimmed but what stands before the key.
 * Throws `kustomize-invalid` for a line that is not UTF-8.
 */
export function readEnvFile(bytes: Uint8Array, origin: Origin): EnvLine[] {
  const pairs: EnvLine[] = []
  let number = 0
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, start)
    const end = newline < 0 ? bytes.length : newline
    number++
    if (end - start > MAX_LINE) tooLong({ ...origin, line: number })
    const text = decodeUtf8(bytes.subarray(start, end))
    if (text === undefined) notUtf8({ ...origin, line: number })
    const pair = readLine(number === 1 ? text.replace(/^\ufeff/, '') : text)
    if (pair) pairs.push({ ...pair, line: number })
    start = end + 1
  }
  return pairs
}

function readLine(text: string): { key: string; value: string } | undefined {
  const line = text.replace(/\r$/, '').replace(LEADING_SPACE, '')
  if (line === '' || line.startsWith('#')) return undefined
  const equals = line.indexOf('=')
  const key = equals < 0 ? line : line.slice(0, equals)
  return key === '' ? undefined : { key, value: equals < 0 ? '' : line.slice(equals + 1) }
}

function tooLong(origin: Origin): never {
  const message = `env file: a line is longer than ${MAX_LINE} bytes, where kustomize stops reading the file`
  throw new BailiwickError('kustomize-unsupported', message, { origin, fix: 'List the file under `files` instead.' })
}

function notUtf8(origin: Origin): never {
  throw new BailiwickError('kustomize-invalid', 'env file: a line is not valid UTF-8', { origin })
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text that these bytes are, a byte order mark included; undefined where they are not UTF-8. */
function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

const ALPHABET: Readonly<Record<string, string>> = { 0: 'g', 1: 'h', 3: 'k', a: 'm', e: 't' }

/**
 * Gives a generated ConfigMap or Secret its name with a hash of its content (hasher.go; the name in the hash is always
 * empty). With unknown values the hash is unknown, too: in its place stands one of what is encrypted, marked by a word
 * that no hash of kustomize can be. Throws `kustomize-unsupported` for an object that a patch has made one of another kind.
 */
export function appendHash(resource: Resource): void {
  const name = at(resource.root, ['metadata', 'name'])!
  resource.remember()
  const suffixed: Node = { ...name, type: 'scalar', value: `${writtenText(name)}-${suffixOf(resource)}` } as Node
  resource.root = withValueAt(resource.root, ['metadata', 'name'], suffixed)
}

const suffixOf = (resource: Resource): string =>
  isUnknown(at(resource.root, ['data'])) ? `unknown-${contentHash(resource)}` : contentHash(resource)

function contentHash(resource: Resource): string {
  const { kind } = resource.current
  const parts = new Map([
    ['kind', goString(kind)],
    ['name', '""'],
    ['data', hashed(at(resource.root, ['data']))],
  ])
  const extra = at(resource.root, [kind === 'Secret' ? 'stringData' : 'binaryData'])
  if (extra && extra.type !== 'scalar') parts.set(kind === 'Secret' ? 'stringData' : 'binaryData', hashed(extra))
  if (kind === 'Secret') parts.set('type', hashed(at(resource.root, ['type'])))
  else if (kind !== 'ConfigMap') {
    const message = `${kind}: a patch changed the kind of a generated object, so its name suffix depends on internal annotations of kustomize. This is not supported`
    throw new BailiwickError('kustomize-unsupported', message, { origin: resourceOrigin(resource) })
  }
  const text = [...parts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => `"${key}":${value}`)
  const digest = hash('sha256', `{${text.join(',')}}`)
  return [...digest.slice(0, 10)].map(char => ALPHABET[char] ?? char).join('')
}

/** kustomize takes the text of a scalar as it is written, and forgets a list. */
function hashed(node: Node | undefined): string {
  if (node === undefined) return '""'
  if (node.type === 'list') return 'null'
  return node.type === 'scalar' ? goString(writtenText(node)) : goJson(toPlain(node))
}

/** JSON as Go writes it: sorted by bytes, and with <, >, & and two line separators escaped. */
function goJson(node: Node): string {
  if (node.type === 'list') return `[${node.items.map(goJson).join(',')}]`
  if (node.type === 'map') {
    const keys = [...node.fields.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    return `{${keys.map(key => `${goString(key)}:${goJson(node.fields.get(key)!.value)}`).join(',')}}`
  }
  if (typeof node.value === 'string') return goString(node.value)
  return String(typeof node.value === 'bigint' ? Number(node.value) : node.value)
}

function goString(text: string): string {
  const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(text).replace(/[<>&\u2028\u2029\u007f]/g, char => (char === '\u007f' ? char : escaped(char)))
}
