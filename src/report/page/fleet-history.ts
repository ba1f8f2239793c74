/** An entry of a fleet's trail, and the line of the file that holds it. Plain JSON of bounded size. */
export interface HistoryRow {
  readonly seq: number
  /** ISO 8601. */
  readonly at: string
  /** `verdict`, `approval`, `override`, ... */
  readonly kind: string
  readonly who: string
  /** `owner/name`. */
  readonly repository: string
  readonly commit?: string
  readonly pull?: number
  readonly cluster?: string
  readonly result: string
  readonly file: string
  readonly line: number
  /** The commit of the trail's branch that added the line. */
  readonly added: string
}

/** The newest entries of a fleet's trail. */
export interface FleetHistory {
  readonly owner: string
  readonly repo: string
  /** GitHub's id of the fleet's repository. */
  readonly repositoryId: number
  /** The newest first. */
  readonly rows: readonly HistoryRow[]
  /** Why nothing is added to the trail any more; absent while entries are added. */
  readonly stopped?: string
}

/** Entries that are stored; the branch has all of them. */
const MAX_ROWS = 1_000
const MAX_TEXT = 300

/** The history with entries that were just written, in the order of the trail. An entry that is there already is not repeated. */
export function withEntries(history: FleetHistory, written: readonly HistoryRow[]): FleetHistory {
  const { stopped: _stopped, ...rest } = history
  const known = new Set(history.rows.map(({ seq }) => seq))
  const added = written.filter(({ seq }) => !known.has(seq)).map(short)
  const rows = [...added, ...history.rows].sort((a, b) => b.seq - a.seq).slice(0, MAX_ROWS)
  return { ...rest, rows }
}

function short(row: HistoryRow): HistoryRow {
  return { ...row, who: row.who.slice(0, MAX_TEXT), result: row.result.slice(0, MAX_TEXT) }
}
