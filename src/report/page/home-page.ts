import type { PagePlace } from '../outcome.ts'
import { type Content, type Html, html, table, when } from './html.ts'
import { type Frame, layout } from './layout.ts'

/** A page that is kept, as a list shows it. */
export interface PageEntry extends PagePlace {
  readonly kind: 'check' | 'cluster' | 'fleet'
  readonly sha?: string
  /** Of its page. */
  readonly path?: string
  /** Name of the check. */
  readonly check?: string
  readonly title?: string
  /** The pull request, branch or merge group that a check is about. */
  readonly about?: string
  readonly conclusion?: 'success' | 'failure'
}

/** How many repositories and verdicts are listed. */
const MAX_REPOSITORIES = 50
const MAX_CHECKS = 50

/** Everything that is kept and that the reader may read. */
export function homePage(entries: readonly PageEntry[], reader: Frame['reader']): string {
  const fleets = entries.filter(({ kind }) => kind === 'fleet')
  const all = entries.filter(({ kind }) => kind === 'check')
  const checks = all.slice(0, MAX_CHECKS)
  const latest = [...Map.groupBy(all, nameOf).values()].flatMap(([first]) => first ?? [])
  const repositories = latest.filter(one => !fleets.some(fleet => nameOf(fleet) === nameOf(one)))
  return layout({ title: 'Fleets and verdicts', crumbs: [], reader }, [
    html`<h1 class="page">Fleets and verdicts</h1>
<p class="dim">Evaluated within the last seven days, of repositories that you can read. <code>/bailiwick explain NAME</code> in a pull request explains a rule or an error code.</p>`,
    html`<section aria-labelledby="fleets"><h2 id="fleets">Fleets</h2>
${fleets.length === 0 ? html`<p>None yet: a fleet is listed once a push to its branch was evaluated.</p>` : html`<ul class="plain">${fleets.map(fleetItem)}</ul>`}
</section>
`,
    repositories.length > 0 &&
      html`<section aria-labelledby="repositories"><h2 id="repositories">Repositories of tenants</h2>
<ul class="plain">${repositories.slice(0, MAX_REPOSITORIES).map(repositoryItem)}</ul>
${repositories.length > MAX_REPOSITORIES && html`<p class="dim">and ${repositories.length - MAX_REPOSITORIES} more</p>`}
</section>
`,
    html`<section aria-labelledby="verdicts"><h2 id="verdicts">Latest verdicts</h2>
${checks.length === 0 ? html`<p>None yet.</p>` : checkTable(checks)}
</section>`,
  ])
}

function fleetItem({ owner, repo, at }: PageEntry): Html {
  return html`<li><a href="/fleets/${owner}/${repo}">${owner}/${repo}</a> <span class="dim small">evaluated ${when(at)}</span></li>`
}

const nameOf = ({ owner, repo }: PageEntry) => `${owner}/${repo}`.toLowerCase()

function repositoryItem({ owner, repo, path = '', title = '', conclusion, at }: PageEntry): Html {
  return html`<li>${owner}/${repo} ${resultTag(conclusion)} <a href="${path}">${title}</a> <span class="dim small">evaluated ${when(at)}</span></li>`
}

function resultTag(conclusion: PageEntry['conclusion']): Html {
  return conclusion === 'success'
    ? html`<span class="tag good">✓ passed</span>`
    : html`<span class="tag bad">✗ blocked</span>`
}

function checkTable(checks: readonly PageEntry[]): Html {
  const rows = checks.map(
    ({ owner, repo, sha = '', path = '', check = '', title = '', about = '', conclusion, at }) => {
      return html`<tr><td class="cell">${resultTag(conclusion)}</td><td class="wide"><a href="${path}">${title}</a></td><td class="cell">${check}</td><td>${owner}/${repo} <code>${sha.slice(0, 7)}</code>${about !== '' && html`<br><span class="dim small">${about}</span>`}</td><td class="cell dim">${when(at)}</td></tr>`
    },
  )
  return table('Table of verdicts', ['Result', 'Verdict', 'Check', 'Commit', 'Evaluated'], rows)
}

/** A page that explains why there is nothing else to see. */
export function noticePage(title: string, content: Content, reader?: Frame['reader']): string {
  return layout(
    { title, crumbs: [], reader },
    html`<h1 class="page">${title}</h1>
${content}`,
  )
}

/** The page for a missing, expired or forbidden page; it does not reveal which. */
export function nothingHere(reader?: Frame['reader']): string {
  return noticePage(
    'Page not found',
    html`<p>The page does not exist, has expired, or belongs to a repository that you cannot read on GitHub. Pages of verdicts expire after seven days.</p>
<p><strong>Re-evaluate</strong> on the check run of a commit creates its page again. A push to the branch of a fleet creates the page of the fleet.</p>
<p><a href="/">Fleets and verdicts that you can read</a></p>`,
    reader,
  )
}

const REFUSALS = {
  400: { title: 'Invalid address', text: 'The address cannot be read. Correct it, or start at the list of pages.' },
  405: { title: 'Method not allowed', text: 'This address answers GET and HEAD only.' },
  500: {
    title: 'Internal error',
    text: 'The page could not be made. The log of the web process has the reason. Try again in a moment.',
  },
} as const

/** The page for a refused request, for every user. */
export function refusedPage(status: keyof typeof REFUSALS): string {
  const { title, text } = REFUSALS[status]
  return noticePage(
    title,
    html`<p>${text}</p>
<p><a href="/">Fleets and verdicts that you can read</a></p>`,
  )
}

/** Something failed on the way to GitHub while someone signed in. */
export function signInFailed(why: string): string {
  return noticePage(
    'You are not signed in',
    html`<p>${why}</p>
<p><a href="/login">Sign in with GitHub</a></p>`,
  )
}

/** Without sign-in, no page is shown. */
export function signInOff(): string {
  return noticePage(
    'Sign-in is not configured',
    html`<p>The check on GitHub has the whole verdict. Pages are shown only to people who sign in with GitHub.</p>
<p>To enable them, the operator of Bailiwick sets <code>CLIENT_ID</code>, <code>CLIENT_SECRET</code> and <code>PUBLIC_URL</code>.</p>`,
  )
}

/** The session is over. */
export function signedOut(): string {
  return noticePage('You are signed out', html`<p><a href="/login">Sign in again with GitHub</a></p>`)
}
