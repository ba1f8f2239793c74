import type { FleetPage } from './fleet-page.ts'
import { type FleetQuery, matches } from './fleet-query.ts'
import { type Content, html } from './html.ts'
import { repositoryLink } from './links.ts'
import { paged } from './paged.ts'
import { sourcesSection } from './sources-section.ts'

/** The sources of a fleet: visible ones with the commit that was evaluated, and the others with the reason. */
export function fleetSources({ sources, notSeen, left }: FleetPage, query: FleetQuery): Content {
  const seen = paged(
    sources.filter(({ id, url, commit }) => matches(query, { texts: [id, url, commit] })),
    query,
    'sources',
    { left: left.sources ?? 0 },
  )
  const hidden = paged(
    notSeen.filter(({ source, url, reason }) => matches(query, { texts: [source, url, reason] })),
    query,
    'hidden',
    { left: left.notSeen ?? 0 },
  )
  const rows = seen.shown.map(({ id, url, commit, used }) => {
    return html`<tr><td>${repositoryLink(url, commit)}</td><td><code>${id}</code></td><td class="num">${used}</td></tr>
`
  })
  return [
    rows.length === 0
      ? html`<p>No visible source${query.text !== '' && ' matches the filters'}.</p>`
      : html`<div class="scroll" role="region" aria-label="Visible sources" tabindex="0"><table>
<caption>Visible, at the evaluated commits</caption>
<thead><tr><th scope="col">Repository</th><th scope="col">Source</th><th scope="col" class="num">Kustomizations</th></tr></thead>
<tbody>
${rows}</tbody>
</table></div>`,
    seen.pager,
    html`<h3 id="hidden">Not visible (${notSeen.length + (left.notSeen ?? 0)})</h3>`,
    hidden.shown.length > 0
      ? sourcesSection(hidden.shown)
      : html`<p>${notSeen.length === 0 ? 'Every source was read.' : 'No source matches the filters.'}</p>`,
    hidden.pager,
  ]
}
