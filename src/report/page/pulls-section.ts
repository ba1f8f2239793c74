import { isAddress } from '../text/file-address.ts'
import type { FleetPage } from './fleet-page.ts'
import { type FleetPulls, type PullRow, visiblePulls } from './fleet-pulls.ts'
import { type FleetQuery, matches, queryAddress } from './fleet-query.ts'
import { type Content, type Html, html } from './html.ts'
import { paged } from './paged.ts'
import { repositoryHost } from './repository-host.ts'
import { when } from './when.ts'

/** The open pull requests of repositories that a fleet reads, those that are blocked first. */
export function pullsSection(page: FleetPage, pulls: FleetPulls | undefined, query: FleetQuery): Content {
  const rows = pullsOf(page, pulls)
  if (!pulls || rows === undefined)
    return html`<p>No open pull request is stored. Bailiwick adds one when it publishes its verdict, and lists all of them when it next looks for missed events.</p>`
  const age = asOf(pulls)
  if (rows.length === 0) return [html`<p>No open pull request.</p>`, age]
  const wanted = rows.filter(row => isWanted(row, query))
  if (wanted.length === 0) return [html`<p>No pull request matches the filters.</p>`, age]
  const { shown, pager } = paged(wanted, query, 'pulls', { left: pulls.left })
  return [
    html`<div class="scroll" role="region" aria-label="Open pull requests" tabindex="0"><table>
<thead><tr><th scope="col">Verdict</th><th scope="col">Pull request</th><th scope="col">Author</th><th scope="col">Tenants</th><th scope="col">Evaluated</th></tr></thead>
<tbody>
${shown.map(row => pullRow(row, page))}</tbody>
</table></div>`,
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
  const shown = tenants
    .slice(0, MAX_LISTED)
    .map((tenant, at) => [
      at > 0 && ', ',
      html`<a href="${queryAddress({ tenant: tenant.toWellFormed() }, 'pulls')}">${tenant}</a>`,
    ])
  return html`<tr><td class="cell">${verdictTag(row)}</td><th scope="row" class="wide">${link} ${title} <span class="tags">${isDraft && html`<span class="tag">draft</span>`}<span class="tag">into ${base}</span></span>${verdict && html`<div class="small">${verdict.path === undefined ? verdict.title : html`<a href="${verdict.path}">${verdict.title}</a>`}</div>`}${isOutdated && html`<div class="small dim">The verdict is about an earlier commit.</div>`}</th><td>${author === '' ? html`<span class="dim">unknown</span>` : author}</td><td class="wide">${shown}${tenants.length > MAX_LISTED && html` <span class="dim small">and ${tenants.length - MAX_LISTED} more</span>`}</td><td class="cell">${verdict ? when(verdict.at) : html`<span class="dim">not stored</span>`}</td></tr>
`
}

function verdictTag({ verdict }: PullRow): Html {
  if (!verdict) return html`<span class="tag none">? not stored</span>`
  if (verdict.conclusion === 'success') return html`<span class="tag good">✓ passed</span>`
  return html`<span class="tag bad">✗ ${verdict.isError ? 'not evaluated' : 'blocked'}</span>`
}
