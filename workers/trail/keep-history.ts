import { within } from '../../src/queue/within.ts'
import { type FleetHistory, type HistoryRow, withEntries } from '../../src/report/page/fleet-history.ts'
import type { TrailEntry } from '../../src/trail/trail-entry.ts'
import type { TrailFile } from '../../src/trail/trail-files.ts'
import { trailLines } from '../../src/trail/trail-lines.ts'
import type { WorkerContext } from '../context/worker-context.ts'

interface HistoryPlace {
  readonly owner: string
  readonly repo: string
  readonly repositoryId: number
}

/** Longer than a store that works ever takes. */
const LIMIT_MS = 5_000

/**
 * Adds the entries of a file that was just written to the history on the page of their fleet. The caller is the only one that
 * writes the trail of this fleet. Errors are only logged: the trail has the entries.
 */
export async function keepHistory(
  context: Pick<WorkerContext, 'pages' | 'log'>,
  place: HistoryPlace,
  { path, bytes }: TrailFile,
  commit: string,
): Promise<void> {
  const rows = [...trailLines(bytes)].flatMap(({ number, entry }) =>
    entry ? [rowOf(entry, path, number, commit)] : [],
  )
  await change(context, place, history => withEntries(history, rows))
}

/** Notes why nothing is added to the trail of a fleet any more. */
export async function keepStoppedHistory(
  context: Pick<WorkerContext, 'pages' | 'log'>,
  place: HistoryPlace,
  stopped: string,
): Promise<void> {
  await change(context, place, history => ({ ...history, stopped }))
}

function rowOf(entry: TrailEntry, file: string, line: number, added: string): HistoryRow {
  const { seq, at, kind, who, repository, commit, pull, cluster, result } = entry
  const about = {
    ...(commit === undefined ? {} : { commit }),
    ...(pull === undefined ? {} : { pull }),
    ...(cluster === undefined ? {} : { cluster }),
  }
  return { seq, at, kind, who, repository, ...about, result, file, line, added }
}

async function change(
  { pages: { store, publicUrl }, log }: Pick<WorkerContext, 'pages' | 'log'>,
  { owner, repo, repositoryId }: HistoryPlace,
  changed: (history: FleetHistory) => FleetHistory,
): Promise<void> {
  if (publicUrl === undefined) return
  const work = async () => {
    const stored = await store.history(owner, repo)
    const fresh = { owner, repo, repositoryId, rows: [] }
    await store.keepHistory(changed(stored?.repositoryId === repositoryId ? stored : fresh))
  }
  const done = await within(LIMIT_MS, work()).catch(err => log.warn({ err }, 'history of a fleet could not be stored'))
  if (done === 'late') log.warn({ owner, repo }, 'history of a fleet takes long to be stored')
}
