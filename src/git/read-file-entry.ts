import type { Stats } from 'node:fs'
import { constants } from 'node:fs'
import { lstat, open, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { SnapshotFile } from './snapshot.ts'

/**
 * A file of a folder as git would record it: a symlink is its target text and is never followed. Undefined for what git
 * does not record (a directory, a socket) and for what is gone.
 */
export async function readFileEntry(dir: string, path: string): Promise<SnapshotFile | undefined> {
  const full = join(dir, path)
  const stats = await statsOf(full)
  if (stats?.isSymbolicLink()) return { path, mode: '120000', content: await readlink(full, { encoding: 'buffer' }) }
  if (!stats?.isFile()) return undefined
  // O_NOFOLLOW: the file may have become a link since it was looked at
  const file = await open(full, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    return { path, mode: stats.mode & 0o100 ? '100755' : '100644', content: await file.readFile() }
  } finally {
    await file.close()
  }
}

/** What is at a path, links not followed; undefined when nothing is (or a directory on the way is not a directory). */
export async function statsOf(full: string): Promise<Stats | undefined> {
  try {
    return await lstat(full)
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined
    throw error
  }
}
