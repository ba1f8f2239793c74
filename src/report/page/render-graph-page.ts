import { withParents } from '../formats/graph-text.ts'
import { count } from '../text/findings.ts'
import type { FleetGraphNode, FleetPage } from './fleet-page.ts'
import { type FleetQuery, fleetFilter, listed, matches, queryAddress, ZOOMS } from './fleet-query.ts'
import { graphPicture } from './graph-picture.ts'
import {
  accountText,
  type Content,
  type Html,
  html,
  type Links,
  namesOf,
  num,
  placeLink,
  repositoryLink,
  table,
  when,
} from './html.ts'
import { type Frame, layout } from './layout.ts'

/** Boxes of the picture: what a person can survey, and a page of less than 200 KB. */
const MAX_BOXES = 150

/** The page of a fleet's graph as HTML: the picture in several sizes, and the same Kustomizations as a table. */
export function renderGraphPage(
  page: FleetPage,
  { reader, query }: { readonly reader?: Frame['reader']; readonly query: FleetQuery },
): string {
  const { owner, repo, repository, branch, commit, at, commits } = page
  const name = `${owner}/${repo}`
  const size = (zoom: number | undefined, text: string) =>
    zoom === query.zoom
      ? html`<li><span aria-current="true">${text}</span></li>`
      : html`<li><a href="${queryAddress({ ...query, zoom }, 'clusters')}">${text}</a></li>`
  return layout(
    {
      title: `Graph of ${name}`,
      crumbs: [{ text: name, href: repository }, { text: 'fleet', href: `/fleets/${name}` }, { text: 'graph' }],
      reader,
    },
    [
      html`<h1 class="page">Graph of ${name}</h1>
<p class="dim">Branch <code>${branch}</code> at ${repositoryLink(repository, commit)}, evaluated ${when(at)}</p>`,
      fleetFilter(page, query, 'graph'),
      html`<section aria-labelledby="clusters"><h2 id="clusters">Clusters and Kustomizations</h2>
<nav aria-label="Size of the picture"><ul class="toc">${size(undefined, 'as wide as the page')}${ZOOMS.map(zoom => size(zoom, `${zoom} %`))}</ul></nav>
${kustomizationsSection(page, query, { here: repository, commits }, MAX_BOXES)}
</section>
`,
    ],
  )
}

/** Namespaces that a row lists. */
const MAX_LISTED = 6

/** The picture of a fleet's graph, with at most `limit` boxes, and its Kustomizations as a table. */
export function kustomizationsSection(page: FleetPage, query: FleetQuery, links: Links, limit: number): Content {
  const { owner, repo, graph, left } = page
  if (graph.length === 0) return html`<p>The fleet has no Kustomization.</p>`
  const wanted = graph.filter(node => isWanted(node, query))
  if (wanted.length === 0) return html`<p>No Kustomization matches the filters.</p>`
  const { shown, pager } = listed(wanted, query, 'kustomizations', { anchor: 'clusters', left: left.graph ?? 0 })
  const isFiltered = wanted.length < graph.length
  return [
    isFiltered &&
      html`<p>${count(wanted.length, 'Kustomization')} of ${graph.length.toLocaleString('en-US')} match the filters. Those that apply them are drawn too.</p>`,
    graphPicture(isFiltered ? withParents(graph, wanted) : graph, {
      ...{ limit, page: `/fleets/${owner}/${repo}`, zoom: query.zoom, links },
    }),
    table(
      'Kustomizations',
      ['Kustomization', 'Tenant', 'Cluster', 'Source', 'Acts as', num('Objects'), 'Namespaces'],
      shown.map(node => nodeRow(node, links)),
      undefined,
      ' gap',
    ),
    pager,
  ]
}

function isWanted(node: FleetGraphNode, query: FleetQuery): boolean {
  const { key, tenant, cluster, identity, source, namespaces = [] } = node
  return matches(query, {
    texts: [key, identity, source.url, source.id, ...namespaces],
    tenants: [tenant],
    clusters: [cluster],
  })
}

function nodeRow(node: FleetGraphNode, links: Links): Html {
  const { namespace, name, tenant, cluster, source, identity, objects, suspend, declared, open = 0, failed = 0 } = node
  const { namespaces = [], moreNamespaces = 0 } = node
  const listed = namesOf(namespaces, MAX_LISTED, one => (one === '' ? 'cluster-scoped' : one), moreNamespaces)
  const tags = [
    suspend && html`<span class="tag none">suspended</span>`,
    open > 0 && html`<span class="tag bad">${count(open, 'violation')}</span>`,
    failed > 0 && html`<span class="tag bad">${count(failed, 'error')}</span>`,
  ]
  return html`<tr><th scope="row" class="wide">${namespace}/${name} <span class="tags">${tags}</span>${declared && html`<div class="small">${placeLink(links, declared)}</div>`}</th><td>${tenant === '' ? html`<span class="dim">platform</span>` : tenant}</td><td>${cluster}</td><td>${repositoryLink(source.url, source.commit)}${source.notSeen !== '' && html`<br><span class="dim small">not visible: ${source.notSeen}</span>`}</td><td class="wide">${accountText(identity)}</td><td class="num">${objects}</td><td class="wide">${listed}</td></tr>`
}
