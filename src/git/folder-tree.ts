import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { BailiwickError } from '../errors.ts'
import { checkPaths, checkSize, DEFAULT_LIMITS, type TreeLimits } from './entry-limits.ts'
import { readFileEntry, statsOf } from './read-file-entry.ts'
import { packSnapshot, type SnapshotFile } from './snapshot.ts'
import type { TreeSnapshot } from './tree.ts'

/**
 * What a plain folder holds, without any `.git`. Links are recorded, not followed. Throws `git-missing` when there is no such
 * folder, `git-ambiguous` for a name that is not UTF-8, `render-limits`.
 */
export async function readFolder(dir: string, limits: TreeLimits = DEFAULT_LIMITS): Promise<TreeSnapshot> {
  return readPaths(dir, await listFolder(dir, limits), limits)
}

/** The paths of all files of a plain folder. Throws as readFolder. */
export async function listFolder(dir: string, limits: TreeLimits): Promise<string[]> {
  if (!(await isDirectory(dir))) {
    throw new BailiwickError('git-missing', `${dir}: not a folder`, { fix: 'Name an existing folder.' })
  }
  const paths: string[] = []
  const visit = async (prefix: string): Promise<void> => {
    const names = await readdir(join(dir, prefix), { withFileTypes: true })
    names.sort((a, b) => (a.name < b.name ? -1 : 1))
    for (const entry of names) {
      if (entry.name === '.git') continue
      if (entry.isDirectory()) await visit(`${prefix}${entry.name}/`)
      else paths.push(prefix + entry.name)
      checkSize(dir, paths.length, 0, limits)
    }
  }
  await visit('')
  return paths
}

/** Packs these files of a folder; those that are gone are left out, as are those behind a directory that became a link. */
export async function readPaths(
  dir: string,
  paths: readonly string[],
  limits: TreeLimits,
  others: readonly SnapshotFile[] = [],
): Promise<TreeSnapshot> {
  const files = [...others]
  checkSize(dir, files.length + paths.length, 0, limits)
  let bytes = others.reduce((sum, file) => sum + file.content.length, 0)
  const isReal = realDirectories(dir)
  for (const path of paths) {
    if (!(await isReal(path.slice(0, Math.max(0, path.lastIndexOf('/')))))) continue
    const size = (await statsOf(join(dir, path)))?.size ?? 0
    checkSize(dir, files.length, bytes + size, limits)
    const file = await readFileEntry(dir, path)
    if (!file) continue
    bytes += file.content.length
    files.push(file)
  }
  checkPaths(dir, files)
  return packSnapshot(files)
}

/** Answers whether a directory below `dir` is reached without passing a link; asks the disk once for each. */
function realDirectories(dir: string): (path: string) => Promise<boolean> {
  const known = new Map<string, boolean>([['', true]])
  const isReal = async (path: string): Promise<boolean> => {
    const before = known.get(path)
    if (before !== undefined) return before
    const parent = await isReal(path.slice(0, Math.max(0, path.lastIndexOf('/'))))
    const real = parent && ((await statsOf(join(dir, path)))?.isDirectory() ?? false)
    known.set(path, real)
    return real
  }
  return isReal
}

async function isDirectory(dir: string): Promise<boolean> {
  return (await statsOf(join(dir, '.')))?.isDirectory() ?? false
}
