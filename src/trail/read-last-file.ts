import { BailiwickError } from '../errors.ts'
import type { TrailAnchor, TrailEntry } from './trail-entry.ts'
import { type TrailFile, trailFile } from './trail-files.ts'
import { isWhole, trailLines } from './trail-lines.ts'

/** The end of a trail: the entries of its last file. */
export interface TrailEnd {
  readonly entries: readonly TrailEntry[]
  readonly head: TrailAnchor | undefined
}

/** The end of a trail without entries. */
export const EMPTY_TRAIL: TrailEnd = { entries: [], head: undefined }

/** The last file of a trail. Throws `git-corrupt` for one that is not as it was written. */
export function readLastFile({ path, bytes }: TrailFile): TrailEnd {
  const entries: TrailEntry[] = []
  let last: string | undefined
  for (const { entry, hash } of trailLines(bytes)) {
    const before = entries.at(-1)
    const follows = before === undefined || (entry?.seq === before.seq + 1 && entry.previous === last)
    if (entry === undefined || !follows) throw damaged(path)
    entries.push(entry)
    last = hash
  }
  const [first] = entries
  if (!isWhole(bytes) || first === undefined || last === undefined || path !== trailFile(first.seq)) throw damaged(path)
  return { entries, head: { seq: first.seq + entries.length - 1, hash: last } }
}

function damaged(path: string): BailiwickError {
  return new BailiwickError('git-corrupt', `${path}: not as it was written. Nothing is added to this trail`, {
    fix: 'Restore the branch of the trail, and protect it against pushes.',
  })
}
