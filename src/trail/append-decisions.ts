import { NO_ENTRY, type TrailAnchor, type TrailDecision, type TrailEntry } from './trail-entry.ts'
import { type TrailFile, trailFile } from './trail-files.ts'
import { hashOfLine, lineOf } from './trail-line.ts'

/** The next file of a trail, and the place of its last entry. */
interface AppendedTrail {
  readonly file: TrailFile
  readonly head: TrailAnchor
}

/**
 * The file that adds decisions behind the last entry of a trail; undefined where all of them are there already. `last`: the
 * entries of its last file, which a retry may repeat if the response to the first write was lost. `fleet`: id of the fleet's repository.
 */
export function appendDecisions(
  decisions: readonly TrailDecision[],
  head: TrailAnchor | undefined,
  last: readonly Pick<TrailEntry, 'id'>[],
  fleet?: number,
): AppendedTrail | undefined {
  const known = new Set(last.map(({ id }) => id))
  const lines: string[] = []
  let { seq, hash } = head ?? { seq: 0, hash: NO_ENTRY }
  const first = seq + 1
  for (const decision of decisions) {
    if (known.has(decision.id)) continue
    known.add(decision.id)
    seq += 1
    const line = lineOf({ ...decision, seq, previous: hash, ...(fleet === undefined ? {} : { fleet }) })
    hash = hashOfLine(line)
    lines.push(line)
  }
  if (lines.length === 0) return undefined
  return { file: { path: trailFile(first), bytes: Buffer.from(`${lines.join('\n')}\n`) }, head: { seq, hash } }
}
