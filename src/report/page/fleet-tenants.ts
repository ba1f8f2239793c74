import type { FleetPage } from './fleet-page.ts'
import { type FleetQuery, matches, queryAddress } from './fleet-query.ts'
import { type Content, html } from './html.ts'
import { paged } from './paged.ts'

/** Namespaces and accounts that a row lists. */
const MAX_LISTED = 8

/** The tenants of a fleet with their open violations: those with the most first. */
export function fleetTenants({ tenants, findings = [], left }: FleetPage, query: FleetQuery): Content {
  if (tenants.length === 0) return html`<p>The fleet has no tenant: every Kustomization is the platform’s.</p>`
  const open = Map.groupBy(
    findings.filter(({ kind, state }) => kind === 'violation' && state === 'open'),
    ({ tenant }) => tenant,
  )
  const number = (name: string) => open.get(name)?.length ?? 0
  const wanted = tenants
    .filter(({ name, clusters, namespaces, identities }) =>
      matches(query, { texts: [name, ...namespaces, ...identities], tenants: [name], clusters }),
    )
    .sort((a, b) => number(b.name) - number(a.name))
  if (wanted.length === 0) return html`<p>No tenant matches the filters.</p>`
  const { shown, pager } = paged(wanted, query, 'tenants', { left: left.tenants ?? 0 })
  const rows = shown.map(({ name, clusters, namespaces, identities }) => {
    const address = queryAddress({ tenant: name.toWellFormed() }, 'violations')
    return html`<tr><th scope="row">${name}</th><td class="num">${number(name) > 0 ? html`<a href="${address}">${number(name)}</a>` : '0'}</td><td>${listed(clusters, name => name)}</td><td>${listed(namespaces, name => html`<a href="${queryAddress({ ...query, namespace: name.toWellFormed() }, 'access')}">${name}</a>`)}</td><td class="wide">${listed(identities, name => html`<code>${name}</code>`)}</td></tr>
`
  })
  return [
    html`<div class="scroll" role="region" aria-label="Tenants" tabindex="0"><table>
<thead><tr><th scope="col">Tenant</th><th scope="col" class="num">Open violations</th><th scope="col">Clusters</th><th scope="col">Namespaces</th><th scope="col">Acts as</th></tr></thead>
<tbody>
${rows}</tbody>
</table></div>`,
    pager,
  ]
}

function listed(names: readonly string[], show: (name: string) => Content): Content {
  const shown = names.slice(0, MAX_LISTED)
  return [
    shown.map((name, at) => [at > 0 && ', ', show(name)]),
    names.length > shown.length && html` <span class="dim small">and ${names.length - shown.length} more</span>`,
  ]
}
