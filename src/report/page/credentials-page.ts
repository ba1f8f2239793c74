import type { PagePlace } from '../outcome.ts'
import { type Content, type Html, html, type Links, paged, placeLink, repositoryLink, table, when } from './html.ts'
import { type Frame, layout, tiles } from './layout.ts'

/** One row of a credentials report. It contains no Secret value and no key. */
interface CredentialRow {
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
export interface CredentialsPage extends PagePlace {
  readonly kind: 'credentials'
  readonly repository: string
  readonly commit: string
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

/** The filters of one request for the page. */
interface CredentialsLook {
  readonly reader?: Frame['reader']
  /** Kind of the only group to show; '' for all groups. */
  readonly kind: string
  /** Text that each row must contain; '' for no filter. */
  readonly search: string
  /** Page number, starting at 1. */
  readonly page: number
}

/** Rows per page. */
const PER_PAGE = 100

type ListedRow = CredentialRow & Pick<CredentialGroup, 'kind' | 'title' | 'tone'>

/** Renders the page of a fleet's credentials as HTML; rows that need action come first. */
export function renderCredentialsPage(shown: CredentialsPage, look: CredentialsLook): string {
  const { owner, repo, repository, commit, at, groups } = shown
  const name = `${owner}/${repo}`
  return layout(
    {
      title: `Credentials of ${name}`,
      crumbs: [
        { text: name, href: repository },
        { text: 'fleet', href: `/fleets/${owner}/${repo}` },
        { text: 'credentials' },
      ],
      reader: look.reader,
    },
    [
      html`<h1 class="page">Credentials of ${name}</h1>
<p class="dim">Secrets in git at ${repositoryLink(repository, commit)} and deploy keys on GitHub, listed ${when(at)}. The comment <code>/bailiwick credentials</code> on an issue of the fleet lists them again.</p>
${tiles(groups.map(({ title, rows }) => [title, rows.length]))}
`,
      html`<section aria-labelledby="list"><h2 id="list">List</h2>
${filters(shown, look)}
${list(shown, look)}
</section>
`,
    ],
  )
}

function filters({ groups }: CredentialsPage, { kind, search }: CredentialsLook): Html {
  const options = groups.map(
    one =>
      html`<option value="${one.kind}"${one.kind === kind && html` selected`}>${one.title} (${one.rows.length})</option>`,
  )
  return html`<form class="ask" method="get" action="#list"><div><label for="kind">Kind</label>
<select id="kind" name="kind"><option value="">everything</option>${options}</select></div>
<div><label for="search">Contains</label>
<input id="search" name="search" type="search" maxlength="200" value="${search}"></div>
<button type="submit">Show</button></form>`
}

function list(page: CredentialsPage, look: CredentialsLook): Content {
  const { kind, search } = look
  const { shown, pager } = paged(listed(page, look), look.page, PER_PAGE, part => {
    const query = new URLSearchParams({ kind, search: search.toWellFormed(), page: String(part) })
    return `?${query.toString()}#list`
  })
  if (shown.length === 0) return html`<p>Nothing is listed.</p>`
  const links = { here: page.repository, commits: { [page.repository]: page.commit } }
  const rows = shown.map(row => rowOf(row, page, links))
  return [
    html`${table('Credentials', ['What', 'Where', 'Note'], rows)}\n`,
    Object.entries(page.left).map(
      ([kind, number]) =>
        html`<p class="dim">${number} more of kind ${kind} are not kept here: run <code>bailiwick credentials</code>.</p>`,
    ),
    pager,
  ]
}

function listed({ groups }: CredentialsPage, { kind, search }: CredentialsLook): readonly ListedRow[] {
  const wanted = search.toLowerCase()
  return groups
    .filter(group => kind === '' || group.kind === kind)
    .flatMap(({ rows, ...group }) =>
      rows.map(row => ({ ...row, kind: group.kind, title: group.title, tone: group.tone })),
    )
    .filter(({ subject, note, file = '' }) => `${subject} ${note} ${file}`.toLowerCase().includes(wanted))
}

const MARKS = { bad: '✗', note: '?', good: '✓' } as const
const TONES = { bad: 'bad', note: 'warn', good: 'good' } as const

function rowOf(
  { title, tone, subject, note, file, line }: ListedRow,
  { repository }: CredentialsPage,
  links: Links,
): Html {
  const place = file === undefined ? undefined : { repository, file, line: line ?? 1, column: 1 }
  return html`<tr><td class="cell"><span class="tag ${TONES[tone]}">${MARKS[tone]} ${title}</span></td><th scope="row" class="wide">${subject}${place && html`<div class="small">${placeLink(links, place)}</div>`}</th><td class="wide">${note}</td></tr>`
}
