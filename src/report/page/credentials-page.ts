import type { Visibility } from '../../fleet/model/visibility.ts'

/** One line of a report about credentials. No value of any Secret, and no key. */
export interface CredentialRow {
  /** What it is about: an object, a tenant, a repository; empty for what has no name. */
  readonly subject: string
  readonly note: string
  readonly file?: string
  readonly line?: number
}

/** Lines of one kind, with what has to be done first in front. */
export interface CredentialGroup {
  /** A word for addresses and filters: the kind of its entries. */
  readonly kind: string
  readonly title: string
  /** `bad`: to be done; `note`: not known; `good`: as it should be. */
  readonly tone: 'bad' | 'note' | 'good'
  readonly rows: readonly CredentialRow[]
}

/**
 * What the page of a fleet's credentials shows: plain JSON of bounded size. It lists deploy keys, which GitHub shows to admins
 * only, so it is for those who maintain or administer the fleet's own repository.
 */
export interface CredentialsPage {
  readonly kind: 'credentials'
  readonly owner: string
  readonly repo: string
  /** GitHub's id of the repository. */
  readonly repositoryId?: number
  /** Who could see the repository when it was made: where more can now, it is not shown. */
  readonly visibility?: Visibility
  readonly repository: string
  readonly commit: string
  readonly at: string
  readonly groups: readonly CredentialGroup[]
  /** How many rows of a group are not kept. */
  readonly left: Readonly<Record<string, number>>
}

/** Rows of one group: three keys for each of three thousand tenants. */
const MAX_ROWS = 9_000

/** The page of a report, with as many rows as are kept. */
export function credentialsPageOf(page: Omit<CredentialsPage, 'kind' | 'left'>): CredentialsPage {
  const over = page.groups.filter(({ rows }) => rows.length > MAX_ROWS)
  return {
    kind: 'credentials',
    ...page,
    groups: page.groups.map(group => ({ ...group, rows: group.rows.slice(0, MAX_ROWS) })),
    left: Object.fromEntries(over.map(({ kind, rows }) => [kind, rows.length - MAX_ROWS])),
  }
}
