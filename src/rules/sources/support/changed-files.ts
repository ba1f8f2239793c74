import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { ChartPart } from '../../../fleet/charts/chart-parts.ts'
import type { Origin } from '../../../origin.ts'

/** Files that differ between two states of the parts of a chart. */
interface ChangedFiles {
  /** The first one that is still there. */
  readonly first?: Origin
  /** Paths, the removed ones too, in order; no more than are named. */
  readonly named: readonly string[]
  readonly hasMore: boolean
}

/** Files that a message names. */
const MAX_NAMED = 5
/** Directories that are looked into: enough to name files, and no more work than that. */
const MAX_DIRECTORIES = 200

/** The files below `parts` that are other ones than before. */
export function changedFiles(index: FleetIndex, before: FleetIndex, parts: readonly ChartPart[]): ChangedFiles {
  const named = new Map<string, Origin | undefined>()
  const queue = parts.map(({ url, ref, path }) => ({ url, ref, path }))
  let directories = 0
  for (let here = queue.shift(); here && named.size <= MAX_NAMED; here = queue.shift()) {
    if (++directories > MAX_DIRECTORIES) break
    const { url, ref, path } = here
    const was = new Map(before.entriesAt(url, ref, path).map(entry => [entry.path, entry]))
    const is = new Map(index.entriesAt(url, ref, path).map(entry => [entry.path, entry]))
    for (const other of [...new Set([...was.keys(), ...is.keys()])].sort()) {
      const [old, now] = [was.get(other), is.get(other)]
      if (old?.id === now?.id && old?.type === now?.type) continue
      if ((now ?? old)!.type === 'directory') queue.push({ url, ref, path: other })
      else named.set(other, now && { repository: url, file: other, line: 1, column: 1 })
    }
  }
  const first = [...named.values()].find(origin => origin !== undefined)
  const hasMore = named.size > MAX_NAMED || queue.length > 0
  return { ...(first ? { first } : {}), named: [...named.keys()].slice(0, MAX_NAMED), hasMore }
}
