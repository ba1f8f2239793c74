import type { Visibility } from '../../fleet/model/visibility.ts'
import { isWider } from '../../fleet/model/visibility.ts'

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
