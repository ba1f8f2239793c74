import type { Visibility } from '../../fleet/model/visibility.ts'

/** One row of a credentials report. It contains no Secret value and no key. */
export interface CredentialRow {
  /** The object, tenant or repository that the row is about; empty if it has no name. */
  readonly subject: string
  readonly note: string
  readonly file?: string
  readonly line?: number
}

/** Rows of one kind, those that need action first. */
export interface CredentialGroup {
  /** Identifies the kind of its rows in URLs and filters. */
  readonly kind: string
  readonly title: string
  /** `bad`: needs action; `note`: not known; `good`: as it should be. */
  readonly tone: 'bad' | 'note' | 'good'
  readonly rows: readonly CredentialRow[]
}

/**
 * The data of a fleet's credentials page: plain JSON of limited size. It lists deploy keys, which GitHub shows only to admins,
 * so only people who maintain or administer the fleet's own repository may see it.
 */
export interface CredentialsPage {
  readonly kind: 'credentials'
  readonly owner: string
  readonly repo: string
  /** GitHub's id for the repository. */
  readonly repositoryId?: number
  /** The repository's visibility when the page was made; the page is hidden if more people can see the repository now. */
  readonly visibility?: Visibility
  readonly repository: string
  readonly commit: string
  readonly at: string
  readonly groups: readonly CredentialGroup[]
  /** The number of omitted rows by group. */
  readonly left: Readonly<Record<string, number>>
}

/** Limit of rows in one group: three keys for each of three thousand tenants. */
const MAX_ROWS = 9_000

/** Builds the page of a report with a limited number of rows. */
export function credentialsPageOf(page: Omit<CredentialsPage, 'kind' | 'left'>): CredentialsPage {
  const over = page.groups.filter(({ rows }) => rows.length > MAX_ROWS)
  return {
    kind: 'credentials',
    ...page,
    groups: page.groups.map(group => ({ ...group, rows: group.rows.slice(0, MAX_ROWS) })),
    left: Object.fromEntries(over.map(({ kind, rows }) => [kind, rows.length - MAX_ROWS])),
  }
}
