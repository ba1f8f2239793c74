import { BailiwickError } from '../base/errors.ts'
import type { Origin } from '../base/origin.ts'
import type { Tree, TreeEntry } from '../git/tree.ts'
import { normaliseUrl } from '../kube/source-address.ts'
import type { Entry } from './entry.ts'

/**
 * The path of `entry`, relative to the root of the tree, seen from `directory`. Throws rule `kustomize-path-escape` for
 * an absolute path or one that leaves the root.
 */
export function resolvePath(directory: string, entry: Entry): string {
  if (entry.text === '') {
    throw new BailiwickError('kustomize-invalid', 'the path is empty', {
      origin: entry.origin,
      fix: 'Remove the entry.',
    })
  }
  const parts = entry.text.startsWith('/') ? undefined : joinPath(directory, entry.text)
  if (parts) return parts.join('/')
  const message = `${JSON.stringify(entry.text)}: the path leaves the repository`
  throw new BailiwickError('kustomize-invalid', message, {
    origin: entry.origin,
    rule: 'kustomize-path-escape',
    identity: `the path ${JSON.stringify(entry.text)} leaves the repository`,
    fix: 'Use a relative path inside the repository.',
  })
}

/** Begins the first part of a path into another repository; YAML and git have no such character. */
export const MOUNT = '\0'

/** The parts of a relative path seen from `directory`; undefined where it leaves the root. */
export function joinPath(directory: string, path: string): string[] | undefined {
  const parts = directory === '' ? [] : directory.split('/')
  for (const part of path.includes('/') ? path.split('/') : [path]) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.length === 0 || parts.pop()!.startsWith(MOUNT)) return undefined
  }
  return parts
}

/** The entry at `path`. Throws rule `kustomize-symlink` or `source-submodules` for one of those on the way. */
export function entryAt(tree: Tree, path: string, entry: Entry): TreeEntry | undefined {
  const found = tree.entry(path)
  // what is there is behind no link
  if (found?.type === 'file' || found?.type === 'directory') return found
  const parts = path === '' ? [] : path.split('/')
  for (let depth = 1; depth <= parts.length; depth++) {
    refuseLink(tree, parts.slice(0, depth).join('/'), entry.origin)
  }
  return found
}

/** The names of a kustomization file, in the order in which Flux looks for them. */
export const KUSTOMIZATION_FILES = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'] as const

/** Path of the kustomization file of a directory (no directory of that name); undefined where there is none. Throws `kustomize-multiple-files`, and rule `kustomize-symlink` for a link of such a name. */
export function findKustomizationFile(tree: Tree, directory: string, origin: Origin): string | undefined {
  const paths = KUSTOMIZATION_FILES.map(name => (directory === '' ? name : `${directory}/${name}`))
  const found = paths.filter(path => tree.entry(path)?.type === 'file')
  const [path, second] = found
  if (second) {
    throw new BailiwickError(
      'kustomize-multiple-files',
      `${directory || '.'}: contains ${found.join(' and ')}. Allowed: one of them`,
      {
        origin: { ...origin, file: second, line: 1, column: 1 },
        fix: 'Keep one of them, and delete the others.',
      },
    )
  }
  for (const one of paths) refuseLink(tree, one, { ...origin, file: one, line: 1, column: 1 })
  return path
}

/** What nearly every path is made of; without other characters only certain names make an address. */
const PLAIN = /^[\w./-]*$/

/**
 * Whether kustomize would fetch this value from a network or another repository rather than read it as a path. Wider
 * than kustomize (repospec.go, fileloader.go): what looks like an address at all is one, a gate may not guess.
 */
export function isRemote(value: string): boolean {
  if (PLAIN.test(value) && !value.includes('_git') && !value.toLowerCase().includes('github')) return false
  const text = value.trim().replace(/^(?:git::)+/i, match => (match ? '' : match))
  if (text !== value.trim()) return true
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return true
  if (/^(?:gh|gl|gs|s3|hg|git|ssh|file|https?|oci):/i.test(text)) return true
  if (/^(?:www\.)?github\.com(?:[:/]|$)/i.test(text)) return true
  if (/^[\w.+-]+@[\w.-]+[:/]/.test(text) || /^[a-z][a-z0-9-]*@[^/]*[:/]/i.test(text)) return true
  if (/^[\w-]+(?:\.[\w-]+)+:[^\\]/.test(text)) return true
  return text.includes('/_git/') || /[?&](?:ref|version|timeout|submodules)=/.test(text)
}

/** As kustomize reads them, none is an address of a file: `git::`, any scheme but http, an account at a host, GitHub itself. */
const NEVER_A_FILE = /^(?:git::|(?!https?:)[a-z][a-z0-9+.-]*:\/\/|[\w.+-]+@[\w.-]+[:/]|(?:www\.)?github\.com[:/])/i

/** A repository of GitHub, where an address answers with a page and not with a file, except for what it serves itself. */
const ON_GITHUB = /^https:\/\/github\.com\/([\w.-]+)\/[\w.-]+(?:\/+([\w.-]+)?[\w./-]*)?(?:\?[\w.=&/-]*)?$/i
const SERVED = new Set(['raw', 'releases', 'files', 'assets', 'suites', 'archive'])

/**
 * Whether an address can only be that of a base in git, which Flux refuses with --no-remote-bases (fluxcd/pkg SecureBuild:
 * the clone lies outside of its file system). Any other http address kustomize asks for as a file first (fileloader.go),
 * and Flux lets it: only the server knows whether it is one.
 */
export function isGitBase(address: string): boolean {
  if (NEVER_A_FILE.test(address)) return true
  const [found, owner = '', first = ''] = ON_GITHUB.exec(address) ?? []
  return found !== undefined && owner.toLowerCase() !== 'user-attachments' && !isServedByGithub(first)
}

/** Whether GitHub may answer a path below a repository with a file, whatever the repository holds there. */
function isServedByGithub(segment: string): boolean {
  return SERVED.has(segment.toLowerCase())
}

/** What an address names that cannot change: a file or a directory of a repository at a commit. */
export interface PinnedAddress {
  /** Normalised by normaliseUrl. */
  readonly url: string
  /** 40 hex digits. */
  readonly commit: string
  readonly type: 'file' | 'directory'
  /** Relative to the root of the repository. */
  readonly path: string
}

const REPOSITORY = '([A-Za-z0-9-]+/[A-Za-z0-9._-]+?)(?:\\.git)?'
const COMMIT = '([0-9a-f]{40})'
const PATH = '([A-Za-z0-9._@+-]+(?:/[A-Za-z0-9._@+-]+)*)'

const FILES = [
  new RegExp(`^https://raw\\.githubusercontent\\.com/${REPOSITORY}/${COMMIT}/${PATH}$`),
  new RegExp(`^https://github\\.com/${REPOSITORY}/raw/${COMMIT}/${PATH}$`),
]

/** As kustomize cuts it (api/internal/git/repospec.go): at `//`, behind `.git`, or behind owner and repository. */
const DIRECTORY = new RegExp(
  `^(?:https://)?github\\.com/${REPOSITORY}(?://?${PATH}?)?/?\\?(?:ref|version)=${COMMIT}(?:&(?:timeout|submodules)=[a-z0-9]*)*$`,
)

/**
 * What an entry of `resources` or `components` names on GitHub at a commit; undefined for any other address. Of other
 * hosts kustomize may take for a file what here is a repository.
 */
export function pinnedAddress(text: string): PinnedAddress | undefined {
  // nearly every entry is a path
  if (text.length > 2000 || !text.includes('github')) return undefined
  for (const pattern of FILES) {
    const [, repository = '', commit = '', path = ''] = pattern.exec(text) ?? []
    if (path !== '') return pinned('file', repository, commit, path)
  }
  const [, repository = '', path = '', commit = ''] = DIRECTORY.exec(text) ?? []
  // of .../raw/main/x.yaml?ref=<commit> kustomize takes the file that GitHub serves
  if (commit === '' || isServedByGithub(path.split('/')[0]!)) return undefined
  return pinned('directory', repository, commit, path)
}

function pinned(type: PinnedAddress['type'], repository: string, commit: string, path: string) {
  if (path.split('/').some(part => part === '.' || part === '..')) return undefined
  return { url: normaliseUrl(`https://github.com/${repository}`), commit, type, path }
}

/**
 * Throws where git has a symlink (rule `kustomize-symlink`) or a submodule (rule `source-submodules`) at `path`. Flux
 * packs neither, and kustomize follows both.
 */
export function refuseLink(tree: Tree, path: string, origin: Origin): void {
  const type = tree.entry(path)?.type ?? tree.left?.(path)
  if (type === 'symlink') {
    throw new BailiwickError(
      'kustomize-unsupported',
      `${JSON.stringify(path)}: is a symlink, which Flux does not include in an artifact`,
      {
        origin,
        rule: 'kustomize-symlink',
        identity: `${JSON.stringify(path)} is a symlink; Flux leaves those out`,
        fix: 'Replace the symlink with the file or directory.',
      },
    )
  }
  if (type === 'submodule') {
    const message = `${JSON.stringify(path)}: submodule. Its content is not in this repository`
    throw new BailiwickError('kustomize-unsupported', message, {
      origin,
      rule: 'source-submodules',
      identity: `${JSON.stringify(path)} is a submodule, whose content is not in this repository`,
      fix: 'Copy the files into this repository, or declare a GitRepository for the other one.',
    })
  }
}

const POINTER = /^version https?:\/\/(?:git-lfs|hawser)\.github\.com\/spec\/v\d/
const MAX_POINTER = 1024

/**
 * Throws rule `git-lfs-pointer` for a file that stands for another one which Git LFS keeps: source-controller never
 * fetches that, so the cluster gets the pointer while people see the file. Format: git-lfs, docs/spec.md.
 */
export function refusePointer(bytes: Uint8Array, origin: Origin): void {
  // 118 is the `v` that every pointer begins with
  if (bytes[0] !== 118 || bytes.length > MAX_POINTER || !POINTER.test(Buffer.from(bytes).toString('latin1'))) return
  const message = `${origin.file}: Git LFS pointer. Flux does not download the content, so the cluster gets the pointer`
  throw new BailiwickError('kustomize-unsupported', message, {
    origin,
    rule: 'git-lfs-pointer',
    identity: `${origin.file} is a pointer of Git LFS; Flux does not fetch what it points at`,
    fix: 'Store the file in git: run `git lfs untrack`, then add the file again.',
  })
}
