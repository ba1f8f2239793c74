import { fleetFilter } from './fleet-filter.ts'
import type { FleetPage } from './fleet-page.ts'
import { type FleetQuery, queryAddress, ZOOMS } from './fleet-query.ts'
import { html } from './html.ts'
import { kustomizationsSection } from './kustomizations-section.ts'
import { type Frame, layout } from './layout.ts'
import { repositoryLink } from './links.ts'
import { when } from './when.ts'

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
