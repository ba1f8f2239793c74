import { BailiwickError } from '../../errors.ts'
import type { Origin } from '../../origin.ts'
import type { Entry, GeneratorEntry } from '../model/entry.ts'
import { isRemote } from '../paths/remote.ts'
import { checkCharacters } from '../resource/round-trip.ts'
import { readEnvFile } from './env-file.ts'

/** A file that an entry of a kustomization names: its path in the tree and its bytes. */
export type ReadBytes = (entry: Entry) => {
  readonly path: string
  readonly bytes: Uint8Array
  /** Flux decrypts it before the build. */
  readonly unknown: boolean
}

/** One key of a generated object; the value stands where it was written. */
export interface Pair {
  readonly key: string
  readonly value: string | Uint8Array
  readonly origin: Origin
  /** Flux decrypts the value before the build; here it is as it is encrypted. */
  readonly unknown?: true
}

/**
 * Keys and values of a generator: of its env files, its literals and its files (api/kv/kv.go, 5.8.1). Throws
 * `kustomize-invalid` for a key twice and for what kustomize cannot write as a key, `kustomize-unsupported` for what is
 * encrypted and cannot be told in part.
 */
export function readPairs(entry: GeneratorEntry, read: ReadBytes): Pair[] {
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
