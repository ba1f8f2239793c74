import { BailiwickError } from '../errors.ts'
import { objectId } from './object-id.ts'
import { runGit } from './run-git.ts'

/** Reads blobs of a local repository by id, each checked. Throws `git-missing` for one that is not there, `git-corrupt`. */
export async function readBlobs(dir: string, ids: readonly string[]): Promise<Map<string, Uint8Array>> {
  const blobs = new Map<string, Uint8Array>()
  if (ids.length === 0) return blobs
  const { output } = await runGit(dir, ['cat-file', '--batch'], `${ids.join('\n')}\n`)
  let at = 0
  for (const id of ids) {
    const end = output.indexOf(0x0a, at)
    const [found, type, size] = output.toString('utf8', at, end < 0 ? output.length : end).split(' ')
    if (end < 0 || found !== id || type !== 'blob') {
      throw new BailiwickError('git-missing', `blob ${id}: missing in the repository`, {
        fix: 'Partial and shallow clones are not supported. Run: git fetch --unshallow --refetch --no-filter',
      })
    }
    const content = output.subarray(end + 1, end + 1 + Number(size))
    if (objectId('blob', content) !== id) throw new BailiwickError('git-corrupt', `blob ${id} is damaged`)
    blobs.set(id, content)
    at = end + 1 + Number(size) + 1
  }
  return blobs
}

/** Larger ones, and more of them, are read when they are asked for. */
const SMALL = { each: 1024 * 1024, all: 96 * 1024 * 1024 }

/** The small ones of these blobs, read at once; those that are not there are left out. */
export async function smallBlobs(dir: string, ids: readonly string[]): Promise<Map<string, Uint8Array>> {
  if (ids.length === 0) return new Map()
  const { output } = await runGit(dir, ['cat-file', '--batch-check'], `${[...new Set(ids)].join('\n')}\n`)
  const wanted: string[] = []
  let left = SMALL.all
  for (const line of output.toString().split('\n')) {
    const [id = '', type, size] = line.split(' ')
    if (type !== 'blob' || Number(size) > SMALL.each || Number(size) > left) continue
    left -= Number(size)
    wanted.push(id)
  }
  return readBlobs(dir, wanted)
}
