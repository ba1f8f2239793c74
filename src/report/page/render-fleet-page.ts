import { accessSection } from './access-section.ts'
import { auditSection } from './audit-section.ts'
import { fleetFilter } from './fleet-filter.ts'
import type { FleetHistory } from './fleet-history.ts'
import type { FleetPage } from './fleet-page.ts'
import type { FleetPulls } from './fleet-pulls.ts'
import { type FleetQuery, NO_QUERY, withFewerRows } from './fleet-query.ts'
import { fleetSources } from './fleet-sources.ts'
import { fleetTenants } from './fleet-tenants.ts'
import { historyOf, historySection } from './history-section.ts'
import { type Content, type Html, html } from './html.ts'
import { kustomizationsSection } from './kustomizations-section.ts'
import { type Frame, layout } from './layout.ts'
import { repositoryLink } from './links.ts'
import { policiesSection } from './policies-section.ts'
import { pullsOf, pullsSection } from './pulls-section.ts'
import { type QueueRow, queueSection } from './queue-section.ts'
import { violationsSection } from './violations-section.ts'
import { when } from './when.ts'

/** What one look at a fleet asks for, and what is known at that moment. */
interface FleetLook {
  readonly reader?: Frame['reader']
  /** Absent: all of it. */
  readonly query?: FleetQuery
  /** Whether the reader maintains the fleet's repository, and may see its credentials. */
  readonly maintains?: boolean
  /** Whether the page of its credentials is stored for this reader. */
  readonly hasCredentials?: boolean
  /** Its open pull requests, as far as they are stored. */
  readonly pulls?: FleetPulls | undefined
  /** The newest entries of its trail, as far as they are stored. */
  readonly history?: FleetHistory | undefined
  /** Absent: the queue does not answer. */
  readonly queue: readonly QueueRow[] | undefined
}

/** Boxes of the graph's picture. */
const MAX_BOXES = 60

/** A larger page has fewer rows in each part of its lists. */
const MAX_BYTES = 190_000

/** The page of a fleet as HTML, with fewer rows in each part of a list where it would be too large. */
export function renderFleetPage(page: FleetPage, look: FleetLook): string {
  let query = look.query ?? NO_QUERY
  for (;;) {
    const html = renderWith(page, { ...look, query })
    const smaller = Buffer.byteLength(html) > MAX_BYTES ? withFewerRows(query) : undefined
    if (!smaller) return html
    query = smaller
  }
}

function renderWith(page: FleetPage, look: FleetLook & { readonly query: FleetQuery }): string {
  const { owner, repo } = page
  const name = `${owner}/${repo}`
  const sections = sectionsOf(page, look)
  return layout(
    { title: `Fleet ${name}`, crumbs: [{ text: name, href: page.repository }, { text: 'fleet' }], reader: look.reader },
    [
      head(page, look),
      html`<nav aria-label="On this page"><ul class="toc">${sections.map(([id, title]) => html`<li><a href="#${id}">${title}</a></li>`)}</ul></nav>`,
      fleetFilter(page, look.query, 'fleet'),
      sections.map(
        ([id, title, content]) => html`<section aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
${content}
</section>
`,
      ),
    ],
  )
}

function sectionsOf(
  page: FleetPage,
  { query, queue, pulls, history }: FleetLook & { readonly query: FleetQuery },
): readonly (readonly [id: string, title: string, content: Content])[] {
  const { left, findings = [], policies = [], tenants, sources, notSeen, graph } = page
  const links = { here: page.repository, commits: page.commits }
  const titled = (title: string, list: readonly unknown[], more = 0) =>
    `${title} (${(list.length + more).toLocaleString('en-US')})`
  return [
    ['pulls', titled('Open pull requests', pullsOf(page, pulls) ?? [], pulls?.left), pullsSection(page, pulls, query)],
    ['violations', titled('Violations by tenant', findings, left.findings), violationsSection(page, query, links)],
    ['access', 'Who can change a namespace', accessSection(page.access, query, links)],
    ['audit', 'Lockdown audit', auditSection(page.audit, query, links, left.audit)],
    ['policies', titled('Policies', policies, left.policies), policiesSection(policies, query, links, left.policies)],
    ['tenants', titled('Tenants', tenants, left.tenants), fleetTenants(page, query)],
    [
      'clusters',
      titled('Kustomizations', graph, left.graph),
      [
        html`<p><a href="/fleets/${page.owner}/${page.repo}/graph">The graph on its own page</a>, larger and in other sizes</p>`,
        kustomizationsSection(page, query, links, MAX_BOXES),
      ],
    ],
    [
      'sources',
      titled('Sources', [...sources, ...notSeen], (left.sources ?? 0) + (left.notSeen ?? 0)),
      fleetSources(page, query),
    ],
    ['history', titled('History of decisions', historyOf(page, history) ?? []), historySection(page, history, query)],
    ['queue', 'Queue', queueSection(queue)],
  ]
}

function head(page: FleetPage, { maintains = false, hasCredentials = false }: FleetLook): Html {
  const { owner, repo, repository, branch, commit, at, assumed, clusters, tenants, counts, sources, notSeen } = page
  const all = (name: string, list: readonly unknown[]) => list.length + (page.left[name] ?? 0)
  const tiles = [
    [clusters.length, clusters.length === 1 ? 'cluster' : 'clusters'],
    [all('tenants', tenants), all('tenants', tenants) === 1 ? 'tenant' : 'tenants'],
    [counts.nodes, 'Kustomizations'],
    [counts.objects, 'objects'],
    [all('sources', sources), 'visible sources'],
    [all('notSeen', notSeen), 'not visible'],
    [counts.violations, 'open violations'],
    [counts.errors, 'evaluation errors'],
  ] as const
  return html`<h1 class="page">Fleet ${owner}/${repo}</h1>
<p class="dim">Branch <code>${branch}</code> at ${repositoryLink(repository, commit)}, evaluated ${when(at)}</p>
${maintains && credentialsLine(hasCredentials ? `/credentials/${owner}/${repo}` : undefined)}
${assumed !== undefined && html`<p>${assumed}</p>`}
<ul class="tiles">${tiles.map(([number, noun]) => html`<li><span>${noun}</span><b>${number.toLocaleString('en-US')}</b></li>`)}</ul>`
}

/** For maintainers only: without a stored report there is no page to lead to. */
function credentialsLine(address: string | undefined): Html {
  if (address !== undefined)
    return html`<p><a href="${address}">Credentials</a> <span class="dim small">for maintainers and admins of this repository</span></p>`
  return html`<p class="dim small">Credentials are not listed: a maintainer writes the comment <code>/bailiwick credentials</code> on an issue of this repository.</p>`
}
