import { BailiwickError } from '../../errors.ts'
import type { Tree, TreeEntry } from '../../git/tree.ts'
import type { Entry } from '../model/entry.ts'
import { refuseLink } from './refuse-link.ts'

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
