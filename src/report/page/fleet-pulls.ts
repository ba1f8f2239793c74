import { isWider, type Visibility } from '../../fleet/model/source-access.ts'
import { isAddress } from '../text/place.ts'
import type { FleetPage } from './fleet-page.ts'
import { type FleetQuery, listed, matches, queryAddress } from './fleet-query.ts'
import { type Content, type Html, html, namesOf, repositoryHost, table, when } from './html.ts'

/** The verdict that was published last on a pull request. */
interface PullVerdict {
  readonly conclusion: 'success' | 'failure'
  /** Nothing, or not all, could be evaluated. */
  readonly isError: boolean
  /** Title of its check. */
  readonly title: string
  /** When it was published, ISO 8601. */
  readonly at: string
  /** Address of its page on this site; absent where pages are off. */
  readonly path?: string
}

/** An open pull request of a repository that a fleet reads, for readers of the fleet's repository. Plain JSON of bounded size. */
export interface PullRow {
  readonly owner: string
  readonly repo: string
  readonly number: number
  readonly title: string
  /** '' if the account is gone. */
  readonly author: string
  readonly base: string
  readonly isDraft: boolean
  readonly headSha: string
  /** Tenants whose objects it changes, or that have a new finding. */
  readonly tenants: readonly string[]
  /** Absent: none is stored. */
  readonly verdict?: PullVerdict
  /** The verdict is about an earlier commit of it. */
  readonly isOutdated?: true
  /** Who could see the fleet's repository then: the row is not shown to more people. */
  readonly visibility: Visibility
}

/** The open pull requests of a fleet. */
export interface FleetPulls {
  readonly owner: string
  readonly repo: string
  /** GitHub's id of the fleet's repository. */
  readonly repositoryId: number
  readonly rows: readonly PullRow[]
  /** Rows beyond the limit. */
  readonly left: number
  /** When GitHub was last asked for all of them; absent: not yet. */
  readonly listedAt?: string
}

/** Rows that are stored for a fleet. */
const MAX_ROWS = 1_000
const MAX_TEXT = 300
const MAX_TENANTS = 20

type PullName = Pick<PullRow, 'owner' | 'repo' | 'number'>

/** Identifies a pull request; GitHub's names ignore case. */
const pullKey = ({ owner, repo, number }: PullName): string => `${owner}/${repo}#${number}`.toLowerCase()

/** The list with this row in place of the one about the same pull request. */
export function withPull(pulls: FleetPulls, row: PullRow): FleetPulls {
  const others = pulls.rows.filter(one => pullKey(one) !== pullKey(row))
  return bounded(pulls, [...others, row])
}

/** The list without a pull request. */
export function withoutPull(pulls: FleetPulls, gone: PullName): FleetPulls {
  return { ...pulls, rows: pulls.rows.filter(one => pullKey(one) !== pullKey(gone)) }
}

/** The list as GitHub has it at a moment: `open` are all open pull requests, without their verdicts. */
export function settledPulls(pulls: FleetPulls, open: readonly PullRow[], at: string): FleetPulls {
  const known = new Map(pulls.rows.map(row => [pullKey(row), row]))
  const rows = open.map(({ tenants, ...present }) => {
    const row = known.get(pullKey(present))
    const outdated = row?.isOutdated || (row?.verdict && row.headSha !== present.headSha)
    return {
      ...{ ...present, tenants: row?.tenants ?? tenants },
      ...(row?.verdict ? { verdict: row.verdict } : {}),
      ...(outdated ? { isOutdated: true as const } : {}),
    }
  })
  return { ...bounded(pulls, rows), listedAt: at }
}

/** Those of the rows that everyone who can see the fleet's page may see. */
export function visiblePulls({ rows }: FleetPulls, page: Visibility): readonly PullRow[] {
  return rows.filter(({ visibility }) => !isWider(page, visibility))
}

/** What blocks is left out last. */
function bounded(pulls: FleetPulls, rows: readonly PullRow[]): FleetPulls {
  const sorted = [...rows].sort(byWeight)
  return { ...pulls, rows: sorted.slice(0, MAX_ROWS).map(short), left: Math.max(0, rows.length - MAX_ROWS) }
}

function short(row: PullRow): PullRow {
  const { title, tenants, verdict } = row
  return {
    ...{ ...row, title: title.slice(0, MAX_TEXT), tenants: tenants.slice(0, MAX_TENANTS) },
    ...(verdict ? { verdict: { ...verdict, title: verdict.title.slice(0, MAX_TEXT) } } : {}),
  }
}

const weight = ({ verdict }: PullRow) => {
  if (!verdict) return 2
  return verdict.conclusion === 'success' ? 3 : verdict.isError ? 0 : 1
}

function byWeight(one: PullRow, other: PullRow): number {
  const [a, b] = [one.verdict?.at ?? '', other.verdict?.at ?? '']
  return weight(one) - weight(other) || (a > b ? -1 : a < b ? 1 : 0) || (pullKey(one) < pullKey(other) ? -1 : 1)
}

/** The open pull requests of repositories that a fleet reads, those that are blocked first. */
export function pullsSection(page: FleetPage, pulls: FleetPulls | undefined, query: FleetQuery): Content {
  const rows = pullsOf(page, pulls)
  if (!pulls || rows === undefined)
    return html`<p>No open pull request is stored. Bailiwick adds one when it publishes its verdict, and lists all of them when it next looks for missed events.</p>`
  const age = asOf(pulls)
  if (rows.length === 0) return [html`<p>No open pull request.</p>`, age]
  const wanted = rows.filter(row => isWanted(row, query))
  if (wanted.length === 0) return [html`<p>No pull request matches the filters.</p>`, age]
  const { shown, pager } = listed(wanted, query, 'pulls', { left: pulls.left })
  return [
    table(
      'Open pull requests',
      ['Verdict', 'Pull request', 'Author', 'Tenants', 'Evaluated'],
      shown.map(row => pullRow(row, page)),
    ),
    age,
    pager,
  ]
}

/** The rows that belong on a page; undefined where none were stored for its repository. */
export function pullsOf(
  { repositoryId, visibility }: FleetPage,
  pulls: FleetPulls | undefined,
): readonly PullRow[] | undefined {
  // another repository that took over the name does not get them
  if (!pulls || (repositoryId !== undefined && pulls.repositoryId !== repositoryId)) return undefined
  return visiblePulls(pulls, visibility ?? 'private')
}

function asOf({ listedAt }: FleetPulls): Html {
  if (listedAt === undefined)
    return html`<p class="dim small">GitHub was not asked yet for all open pull requests: these have a published verdict.</p>`
  return html`<p class="dim small">GitHub listed them ${when(listedAt)}. A verdict is as of the time in its row.</p>`
}

function isWanted(row: PullRow, query: FleetQuery): boolean {
  const { owner, repo, number, title, author, tenants, verdict } = row
  const { state } = query
  const isState =
    (state !== 'blocked' && state !== 'passed' && state !== 'error') ||
    (state === 'error' && verdict?.isError === true) ||
    (state === 'blocked' && verdict?.conclusion === 'failure') ||
    (state === 'passed' && verdict?.conclusion === 'success')
  return (
    isState && matches(query, { texts: [`${owner}/${repo}#${number}`, title, author, verdict?.title ?? ''], tenants })
  )
}

/** Tenants that a row lists. */
const MAX_LISTED = 6

function pullRow(row: PullRow, { repository, owner: here }: FleetPage): Html {
  const { owner, repo, number, title, author, base, isDraft, tenants, verdict, isOutdated } = row
  const address = `${repositoryHost(repository)}/${owner}/${repo}/pull/${number}`
  const name = `${owner === here ? repo : `${owner}/${repo}`}#${number}`
  const link = isAddress(address) ? html`<a href="${address}">${name}</a>` : html`<code>${name}</code>`
  const shown = namesOf(tenants, MAX_LISTED, tenant => {
    return html`<a href="${queryAddress({ tenant: tenant.toWellFormed() }, 'pulls')}">${tenant}</a>`
  })
  return html`<tr><td class="cell">${verdictTag(row)}</td><th scope="row" class="wide">${link} ${title} <span class="tags">${isDraft && html`<span class="tag">draft</span>`}<span class="tag">into ${base}</span></span>${verdict && html`<div class="small">${verdict.path === undefined ? verdict.title : html`<a href="${verdict.path}">${verdict.title}</a>`}</div>`}${isOutdated && html`<div class="small dim">The verdict is about an earlier commit.</div>`}</th><td>${author === '' ? html`<span class="dim">unknown</span>` : author}</td><td class="wide">${shown}</td><td class="cell">${verdict ? when(verdict.at) : html`<span class="dim">not stored</span>`}</td></tr>`
}

function verdictTag({ verdict }: PullRow): Html {
  if (!verdict) return html`<span class="tag none">? not stored</span>`
  if (verdict.conclusion === 'success') return html`<span class="tag good">✓ passed</span>`
  return html`<span class="tag bad">✗ ${verdict.isError ? 'not evaluated' : 'blocked'}</span>`
}
