import { count } from '../text/headline.ts'
import { accountText } from './account-text.ts'
import type { FleetGraphNode } from './fleet-graph.ts'
import type { FleetPage } from './fleet-page.ts'
import { type FleetQuery, matches } from './fleet-query.ts'
import { graphPicture } from './graph-picture.ts'
import { type Content, type Html, html } from './html.ts'
import { type Links, placeLink, repositoryLink } from './links.ts'
import { paged } from './paged.ts'

/** Namespaces that a row lists. */
const MAX_LISTED = 6

/** The picture of a fleet's graph, with at most `limit` boxes, and its Kustomizations as a table. */
export function kustomizationsSection(page: FleetPage, query: FleetQuery, links: Links, limit: number): Content {
  const { owner, repo, graph, left } = page
  if (graph.length === 0) return html`<p>The fleet has no Kustomization.</p>`
  const wanted = graph.filter(node => isWanted(node, query))
  if (wanted.length === 0) return html`<p>No Kustomization matches the filters.</p>`
  const { shown, pager } = paged(wanted, query, 'kustomizations', { anchor: 'clusters', left: left.graph ?? 0 })
  const isFiltered = wanted.length < graph.length
  return [
    isFiltered &&
      html`<p>${count(wanted.length, 'Kustomization')} of ${graph.length.toLocaleString('en-US')} match the filters. Those that apply them are drawn too.</p>`,
    graphPicture(isFiltered ? withParents(wanted, graph) : graph, {
      ...{ limit, page: `/fleets/${owner}/${repo}`, zoom: query.zoom, links },
    }),
    html`<div class="scroll gap" role="region" aria-label="Kustomizations" tabindex="0"><table>
<thead><tr><th scope="col">Kustomization</th><th scope="col">Tenant</th><th scope="col">Cluster</th><th scope="col">Source</th><th scope="col">Acts as</th><th scope="col" class="num">Objects</th><th scope="col">Namespaces</th></tr></thead>
<tbody>
${shown.map(node => nodeRow(node, links))}</tbody>
</table></div>`,
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

function withParents(wanted: readonly FleetGraphNode[], graph: readonly FleetGraphNode[]): readonly FleetGraphNode[] {
  const byKey = new Map(graph.map(node => [node.key, node]))
  const kept = new Set<string>()
  for (const node of wanted) {
    for (let at: FleetGraphNode | undefined = node; at && !kept.has(at.key); at = byKey.get(at.parent ?? ''))
      kept.add(at.key)
  }
  return graph.filter(({ key }) => kept.has(key))
}

function nodeRow(node: FleetGraphNode, links: Links): Html {
  const { namespace, name, tenant, cluster, source, identity, objects, suspend, declared, open = 0, failed = 0 } = node
  const { namespaces = [], moreNamespaces = 0 } = node
  const listed = namespaces.slice(0, MAX_LISTED).map(one => (one === '' ? 'cluster-scoped' : one))
  const more = namespaces.length + moreNamespaces - listed.length
  const tags = [
    suspend && html`<span class="tag none">suspended</span>`,
    open > 0 && html`<span class="tag bad">${count(open, 'violation')}</span>`,
    failed > 0 && html`<span class="tag bad">${count(failed, 'error')}</span>`,
  ]
  return html`<tr><th scope="row" class="wide">${namespace}/${name} <span class="tags">${tags}</span>${declared && html`<div class="small">${placeLink(links, declared)}</div>`}</th><td>${tenant === '' ? html`<span class="dim">platform</span>` : tenant}</td><td>${cluster}</td><td>${repositoryLink(source.url, source.commit)}${source.notSeen !== '' && html`<br><span class="dim small">not visible: ${source.notSeen}</span>`}</td><td class="wide">${accountText(identity)}</td><td class="num">${objects}</td><td class="wide">${listed.join(', ')}${more > 0 && html` <span class="dim small">and ${more} more</span>`}</td></tr>
`
}
