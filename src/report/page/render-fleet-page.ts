import { accessSection } from './access-section.ts'
import { auditSection } from './audit-section.ts'
import type { FleetPage } from './fleet-page.ts'
import { fleetGraph } from './graph-section.ts'
import { type Content, type Html, html } from './html.ts'
import { type Frame, layout } from './layout.ts'
import { repositoryLink } from './links.ts'
import { policiesSection } from './policies-section.ts'
import { type QueueRow, queueSection } from './queue-section.ts'
import { sourcesSection } from './sources-section.ts'
import { when } from './when.ts'

/** What one look at a fleet asks for, and what is known at that moment. */
interface FleetLook {
  readonly reader?: Frame['reader']
  /** The namespace that the access explorer is asked about; '' for none. */
  readonly namespace: string
  /** Absent: the queue does not answer. */
  readonly queue: readonly QueueRow[] | undefined
}

/** How many tenants and sources are listed. */
const MAX_ROWS = 500

/** The page of a fleet as HTML. */
export function renderFleetPage(page: FleetPage, { reader, namespace, queue }: FleetLook): string {
  const { owner, repo } = page
  const links = { here: page.repository, commits: page.commits }
  const parts = [
    ['access', 'Who can change a namespace', accessSection(page.access, namespace, links)],
    ['audit', 'Lockdown audit', auditSection(page.audit, links)],
    [
      'policies',
      `Policies (${(page.policies?.length ?? 0) + (page.left.policies ?? 0)})`,
      policiesSection(page.policies ?? [], links, page.left.policies),
    ],
    ['tenants', `Tenants (${page.tenants.length})`, tenantTable(page)],
    ['clusters', 'Clusters and Kustomizations', fleetGraph(page.graph)],
    ['sources', `Sources (${page.sources.length + page.notSeen.length})`, sources(page)],
    ['queue', 'Queue', queueSection(queue)],
  ] as const
  return layout(
    {
      title: `Fleet ${owner}/${repo}`,
      crumbs: [{ text: `${owner}/${repo}`, href: page.repository }, { text: 'fleet' }],
      reader,
    },
    [
      head(page),
      html`<nav aria-label="On this page"><ul class="toc">${parts.map(([id, title]) => html`<li><a href="#${id}">${title}</a></li>`)}</ul></nav>`,
      parts.map(
        ([id, title, content]) => html`<section aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
${content}
</section>
`,
      ),
    ],
  )
}

function head({
  owner,
  repo,
  repository,
  branch,
  commit,
  at,
  assumed,
  clusters,
  tenants,
  counts,
  sources,
  notSeen,
}: FleetPage): Html {
  const tiles = [
    [clusters.length, clusters.length === 1 ? 'cluster' : 'clusters'],
    [tenants.length, tenants.length === 1 ? 'tenant' : 'tenants'],
    [counts.nodes, 'Kustomizations'],
    [counts.objects, 'objects'],
    [sources.length, 'visible sources'],
    [notSeen.length, 'not visible'],
    [counts.violations, 'violations'],
    [counts.errors, 'evaluation errors'],
  ] as const
  return html`<h1 class="page">Fleet ${owner}/${repo}</h1>
<p class="dim">Branch <code>${branch}</code> at ${repositoryLink(repository, commit)}, evaluated ${when(at)}</p>
<p><a href="/credentials/${owner}/${repo}">Credentials</a> <span class="dim small">for maintainers and admins of this repository, after someone runs <code>/bailiwick credentials</code></span></p>
${assumed !== undefined && html`<p>${assumed}</p>`}
<ul class="tiles">${tiles.map(([number, noun]) => html`<li><span>${noun}</span><b>${number.toLocaleString('en-US')}</b></li>`)}</ul>`
}

function tenantTable({ tenants }: FleetPage): Content {
  if (tenants.length === 0) return html`<p>No tenant: everything here is the platform’s.</p>`
  const rows = tenants.slice(0, MAX_ROWS).map(({ name, clusters, namespaces, identities }) => {
    return html`<tr><th scope="row">${name}</th><td>${clusters.join(', ')}</td><td>${spaceLinks(namespaces)}</td><td class="wide"><code>${identities.join(' ')}</code></td></tr>
`
  })
  return [
    html`<div class="scroll" role="region" aria-label="Tenants" tabindex="0"><table>
<thead><tr><th scope="col">Tenant</th><th scope="col">Clusters</th><th scope="col">Namespaces</th><th scope="col">Acts as</th></tr></thead>
<tbody>
${rows}</tbody>
</table></div>`,
    moreLine(tenants.length),
  ]
}

function spaceLinks(namespaces: readonly string[]): Content {
  return namespaces
    .slice(0, 50)
    .map(name => html`<a href="?namespace=${encodeURIComponent(name.toWellFormed())}#access">${name}</a> `)
}

function sources({ sources, notSeen }: FleetPage): Content {
  const rows = sources.slice(0, MAX_ROWS).map(({ id, url, commit, used }) => {
    return html`<tr><td>${repositoryLink(url, commit)}</td><td><code>${id}</code></td><td class="num">${used}</td></tr>
`
  })
  return [
    html`<div class="scroll" role="region" aria-label="Sources that were seen" tabindex="0"><table>
<caption>Visible, at the evaluated commits</caption>
<thead><tr><th scope="col">Repository</th><th scope="col">Source</th><th scope="col" class="num">Kustomizations</th></tr></thead>
<tbody>
${rows}</tbody>
</table></div>`,
    moreLine(sources.length),
    notSeen.length > 0 && html`<h3>Not visible</h3>${sourcesSection(notSeen)}`,
  ]
}

function moreLine(number: number): Content {
  return number > MAX_ROWS && html`<p class="dim">and ${number - MAX_ROWS} more</p>`
}
