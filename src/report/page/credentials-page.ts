import type { Visibility } from '../../fleet/model/source-access.ts'
import { type Content, type Html, html, type Links, placeLink, repositoryLink, when } from './html.ts'
import { type Frame, layout } from './layout.ts'

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
<ul class="tiles">${groups.map(({ title, rows }) => html`<li><span>${title}</span><b>${rows.length.toLocaleString('en-US')}</b></li>`)}</ul>
`,
      html`<section aria-labelledby="list"><h2 id="list">List</h2>
${filters(shown, look)}
${table(shown, look)}
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

function table(page: CredentialsPage, look: CredentialsLook): Content {
  const rows = listed(page, look)
  if (rows.length === 0) return html`<p>Nothing is listed.</p>`
  const last = Math.ceil(rows.length / PER_PAGE)
  const at = Number.isSafeInteger(look.page) ? Math.min(Math.max(look.page, 1), last) : 1
  const links = { here: page.repository, commits: { [page.repository]: page.commit } }
  return [
    html`<div class="scroll" role="region" aria-label="Credentials" tabindex="0"><table>
<thead><tr><th scope="col">What</th><th scope="col">Where</th><th scope="col">Note</th></tr></thead>
<tbody>
${rows.slice((at - 1) * PER_PAGE, at * PER_PAGE).map(row => rowOf(row, page, links))}</tbody>
</table></div>
`,
    Object.entries(page.left).map(
      ([kind, number]) =>
        html`<p class="dim">${number} more of kind ${kind} are not kept here: run <code>bailiwick credentials</code>.</p>`,
    ),
    pager(at, last, look),
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
  return html`<tr><td class="cell"><span class="tag ${TONES[tone]}">${MARKS[tone]} ${title}</span></td><th scope="row" class="wide">${subject}${place && html`<div class="small">${placeLink(links, place)}</div>`}</th><td class="wide">${note}</td></tr>
`
}

function pager(page: number, last: number, { kind, search }: CredentialsLook): Content {
  if (last === 1) return undefined
  const to = (number: number, text: string) => {
    const query = new URLSearchParams({ kind, search: search.toWellFormed(), page: String(number) })
    return html`<a href="?${query.toString()}#list">${text}</a> `
  }
  return html`<p>${page > 1 && to(page - 1, 'Previous')}Part ${page} of ${last} ${page < last && to(page + 1, 'Next')}</p>`
}
