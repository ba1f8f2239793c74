import { Transform } from 'node:stream'
import { BailiwickError } from '../base/errors.ts'

/** What a repository may hold at most before it is refused: a reader must not be filled by someone else's commit. */
export interface TreeLimits {
  readonly files: number
  readonly bytes: number
}

/** Room for a fleet of some thousand tenants; memory stays bounded. */
export const DEFAULT_LIMITS: TreeLimits = { files: 100_000, bytes: 256 * 1024 * 1024 }

/** The same for what lies on this machine, of which only what is asked for is read into memory. */
export const LOCAL_LIMITS: TreeLimits = { files: 200_000, bytes: Number.POSITIVE_INFINITY }

/** One file that is asked for. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024

/** Throws `render-limits`, with the file, for one that is larger than anything that is built from. */
export function checkFileSize(path: string, size: number, limit: number = MAX_FILE_BYTES): void {
  if (size <= limit) return
  throw new BailiwickError(
    'render-limits',
    `${path}: too large (${size} bytes). At most ${limit} bytes of a file are read`,
    {
      origin: { repository: '', file: path, line: 0, column: 0 },
      fix: 'Split the file, or remove the references to it.',
    },
  )
}

/** git's own limit for a path on Linux. */
const MAX_PATH_BYTES = 4096

/** Throws `render-limits` when a listing has more files or bytes than allowed. */
export function checkSize(what: string, files: number, bytes: number, limits: TreeLimits): void {
  if (files > limits.files) throw tooMuch(what, `${files} files`, `${limits.files} files`)
  if (bytes > limits.bytes) throw tooMuch(what, `${bytes} bytes`, `${limits.bytes} bytes`)
}

function tooMuch(what: string, found: string, allowed: string): BailiwickError {
  return new BailiwickError('render-limits', `${what}: contains ${found}. At most ${allowed} are read`, {
    fix: 'Move the manifests of the clusters to their own repository.',
  })
}

/**
 * Throws `git-ambiguous` for names that git itself would never check out or that two readers would take differently:
 * empty, `.`, `..` and `.git` components, NUL, not UTF-8, a path twice, a path that is a file and a directory.
 */
export function checkPaths(what: string, entries: readonly { readonly path: string }[]): void {
  const seen = new Set<string>()
  for (const { path } of entries) {
    const problem = problemOf(path)
    if (problem) throw ambiguous(what, path, problem)
    if (seen.has(path)) throw ambiguous(what, path, 'it is listed twice')
    seen.add(path)
  }
  const directories = new Set<string>()
  for (const path of seen) {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const directory = path.slice(0, end)
      if (directories.has(directory)) break
      if (seen.has(directory)) throw ambiguous(what, directory, 'it is both a file and a directory')
      directories.add(directory)
    }
  }
}

function problemOf(path: string): string | undefined {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `it is longer than ${MAX_PATH_BYTES} bytes`
  if (path.includes('\0')) return 'it contains a NUL character'
  if (path.includes('\ufffd')) return 'it is not valid UTF-8'
  for (const name of path.split('/')) {
    if (name === '') return 'it has an empty component'
    if (name === '.' || name === '..') return `it has the component "${name}"`
    if (name.toLowerCase() === '.git') return 'it has the component ".git"'
  }
  return undefined
}

function ambiguous(what: string, path: string, problem: string): BailiwickError {
  const shown = JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path)
  return new BailiwickError('git-ambiguous', `${what}: the path ${shown} is not supported: ${problem}`, {
    fix: 'Rename or remove the file.',
  })
}

/** Ends a stream that gives more than `max` bytes with `render-limits`: what is compressed does not say how large it is. */
export function capped(max: number, what: string): Transform {
  let seen = 0
  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      seen += chunk.length
      if (seen <= max) return done(null, chunk)
      done(new BailiwickError('render-limits', `${what} unpacks to more than ${max} bytes`))
    },
  })
}
