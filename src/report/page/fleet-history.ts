import { fileAddress, isAddress } from '../text/place.ts'
import type { FleetPage } from './fleet-page.ts'
import { type FleetQuery, listed, matches } from './fleet-query.ts'
import { type Content, type Html, html, num, repositoryHost, table, when } from './html.ts'

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

/** The newest entries of a fleet's trail: verdicts, approvals, overrides and what was applied. */
export function historySection(page: FleetPage, history: FleetHistory | undefined, query: FleetQuery): Content {
  const rows = historyOf(page, history)
  if (page.trail === 'off')
    return html`<p>The trail is off: decisions are not recorded. The setting <code>TRAIL=on</code> of the workers records them on the branch <code>bailiwick/trail</code> of this repository.</p>`
  const stopped =
    history?.stopped !== undefined &&
    rows !== undefined &&
    html`<p><span class="tag bad">✗ stopped</span> ${history.stopped}. Nothing is added to the trail until its branch is restored.</p>`
  if (!rows || rows.length === 0)
    return [
      stopped,
      html`<p>No entry is stored. Entries of the last seven days are shown here; the branch <code>bailiwick/trail</code> has all of them.</p>`,
    ]
  const wanted = rows.filter(row =>
    matches(query, { texts: textsOf(row), ...(row.cluster ? { clusters: [row.cluster] } : {}) }),
  )
  if (wanted.length === 0) return [stopped, html`<p>No entry matches the filters.</p>`]
  const { shown, pager } = listed(wanted, query, 'history')
  const { seq: newest = 0, at = '' } = rows[0] ?? {}
  return [
    stopped,
    html`<p class="dim">The newest ${rows.length.toLocaleString('en-US')} of ${newest.toLocaleString('en-US')} entries, as of ${when(at)}. <code>bailiwick trail verify</code> checks all of them.</p>\n`,
    table(
      'Entries of the trail',
      [num('Entry'), 'When', 'Decision', 'Who', 'About'],
      shown.map(row => historyRow(row, page)),
    ),
    pager,
  ]
}

/** The entries that belong on a page; undefined where none are stored for its repository. */
export function historyOf(
  { repositoryId }: FleetPage,
  history: FleetHistory | undefined,
): readonly HistoryRow[] | undefined {
  const isOther = repositoryId !== undefined && history?.repositoryId !== repositoryId
  return isOther ? undefined : history?.rows
}

const textsOf = ({ kind, who, repository, commit = '', pull, cluster = '', result }: HistoryRow): string[] => [
  ...[kind, who, cluster, result, commit, `${repository}${pull === undefined ? '' : `#${pull}`}`],
]

const RESULTS: Readonly<Record<string, { readonly tone: string; readonly text: string }>> = {
  success: { tone: 'good', text: '✓ passed' },
  failure: { tone: 'bad', text: '✗ blocked' },
  applied: { tone: 'good', text: '✓ applied' },
}

function historyRow(row: HistoryRow, { repository: here }: FleetPage): Html {
  const { seq, at, kind, who, repository, commit, pull, cluster, result, file, line, added } = row
  const host = repositoryHost(here)
  const entry = fileAddress(here, added, file, line)
  const look = Object.hasOwn(RESULTS, result) ? RESULTS[result] : undefined
  const mark = look ? html`<span class="tag ${look.tone}">${look.text}</span>` : result !== 'done' && result
  const about = [
    linked(
      `${host}/${repository}${pull === undefined ? '' : `/pull/${pull}`}`,
      `${repository}${pull === undefined ? '' : `#${pull}`}`,
    ),
    commit !== undefined && [' ', linked(`${host}/${repository}/commit/${commit}`, commit.slice(0, 7))],
    cluster !== undefined && html` <span class="tag">${cluster}</span>`,
  ]
  return html`<tr><td class="num">${entry === undefined ? String(seq) : html`<a href="${entry}">${seq}</a>`}</td><td class="cell">${when(at)}</td><th scope="row" class="wide">${kind} ${mark}</th><td>${who}</td><td class="wide">${about}</td></tr>`
}

const linked = (address: string, text: string): Html =>
  isAddress(address) ? html`<a class="place" href="${address}">${text}</a>` : html`<code>${text}</code>`
