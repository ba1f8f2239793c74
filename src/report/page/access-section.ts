import type { AccessOverview, AccessView, ChangerView, RightView } from '../../access/access-overview.ts'
import { accountText } from './account-text.ts'
import { nameField } from './fleet-filter.ts'
import { type FleetQuery, matches, queryAddress } from './fleet-query.ts'
import { type Content, type Html, html } from './html.ts'
import { type Links, placeLink, repositoryLink } from './links.ts'

/** Clusters that one answer shows; the cluster filter leads to the others. */
const MAX_CLUSTERS = 5
/** Namespaces that are offered for a part of a name. */
const MAX_OFFERED = 20

/** The access explorer: a question about a namespace, and its answer for each cluster that has it. */
export function accessSection({ namespaces, left }: AccessOverview, query: FleetQuery, links: Links): Content {
  const { namespace: asked } = query
  const names = [...new Set(namespaces.map(({ namespace }) => namespace))].sort()
  const found = namespaces.filter(
    ({ namespace, cluster }) =>
      namespace === asked && matches({ ...query, text: '', tenant: '' }, { texts: [], clusters: [cluster] }),
  )
  const kept = Object.entries({ text: query.text, tenant: query.tenant, cluster: query.cluster, state: query.state })
  return [
    html`<p>Who may change what, from git alone: repository, Kustomization, account, role.</p>
<form class="ask" method="get" action="#access" aria-label="Ask about a namespace">${nameField('namespace', 'Namespace', names, asked, 'choose one')}
${kept.map(([name, value]) => value !== '' && html`<input type="hidden" name="${name}" value="${value}">`)}<button type="submit">Show</button></form>`,
    asked !== '' && found.length === 0 && notFound(names, query),
    left > 0 &&
      html`<p class="dim">${left} more are not evaluated on this page: <code>bailiwick access NAMESPACE</code> in a checkout of the fleet answers for any.</p>`,
    found.slice(0, MAX_CLUSTERS).map(view => clusterBlock(shortened(view, query.rows), links)),
    found.length > MAX_CLUSTERS &&
      html`<p class="dim">The same namespace is on ${found.length - MAX_CLUSTERS} more clusters: filter by cluster.</p>`,
  ]
}

/** A view with at most so many who can change the namespace, and as many others. */
function shortened(view: AccessView, rows: number): AccessView {
  const { changers, others, unknown, left } = view
  const over = (list: readonly unknown[]) => Math.max(0, list.length - rows)
  return {
    ...{ ...view, changers: changers.slice(0, rows), others: others.slice(0, rows), unknown: unknown.slice(0, rows) },
    left: left + over(changers) + over(others) + over(unknown),
  }
}

function notFound(names: readonly string[], query: FleetQuery): Content {
  const alike = names.filter(name => name.includes(query.namespace)).slice(0, MAX_OFFERED)
  const to = (name: string) => queryAddress({ ...query, namespace: name.toWellFormed() }, 'access')
  return [
    html`<p>No namespace ${query.namespace} is known here${query.cluster !== '' && ` on cluster ${query.cluster}`}.</p>`,
    alike.length > 0 &&
      html`<p>Its name is part of: ${alike.map(name => html`<a href="${to(name)}">${name}</a> `)}</p>`,
  ]
}

function clusterBlock(view: AccessView, links: Links): Html {
  const { cluster, namespace, tenant, changers, others, unknown, left } = view
  return html`<h3>${namespace} on ${cluster} <span class="tag">${tenant === '' ? 'the platform’s' : tenant}</span></h3>
${changers.length > 0 ? changerTable(view, links) : html`<p>No object of Flux can change it.</p>`}
${others.length > 0 && html`<h4>Others who can change it</h4><ul class="dots">${others.map(right => html`<li>${right.subject}: ${rightText(right, links)}</li>`)}</ul>`}
${unknown.length > 0 && html`<h4>Not known</h4><ul class="dots">${unknown.map(line => html`<li>${line}</li>`)}</ul>`}
${left > 0 && html`<p class="dim">and ${left} more: <code>bailiwick access ${namespace}</code> lists all</p>`}
`
}

function changerTable({ cluster, namespace, changers }: AccessView, links: Links): Html {
  const groups = Map.groupBy(changers, ({ user, impersonated, ownCluster, rights, by }) =>
    JSON.stringify([user, impersonated, ownCluster, rights, by]),
  )
  return html`<div class="scroll" role="region" aria-label="Who can change ${namespace} on ${cluster}" tabindex="0"><table>
<thead><tr><th scope="col">Who may write here</th><th scope="col">decides what this applies</th><th scope="col">acting as</th><th scope="col">with</th></tr></thead>
<tbody>
${[...groups.values()].map(group => changerRows(group, links))}</tbody>
</table></div>`
}

/** Those who act as the same account with the same rights: that is said once. */
function changerRows(group: readonly ChangerView[], links: Links): Content {
  return group.map((changer, at) => {
    const own = html`<td>${repositoryText(changer)}</td><td>${objectText(changer)}</td>`
    if (at > 0)
      return html`<tr>${own}</tr>
`
    const rows = group.length
    return html`<tr>${own}<td rowspan="${rows}">${actorText(changer)}</td><td class="wide" rowspan="${rows}">${rightsText(changer, links)}</td></tr>
`
  })
}

function repositoryText({ repository: { url, ref, path, notSeen } }: ChangerView): Html {
  return html`${url === '' ? 'the fleet' : repositoryLink(url)}${ref !== '' && html` <span class="tag"><code>${ref}</code></span>`}${path !== '' && html`<br><code>${path}</code>`}${notSeen !== undefined && html`<br><span class="tag warn">not visible</span>`}`
}

function objectText({ kind, namespace, name, tenant }: ChangerView): Html {
  return html`${kind}<br><code>${namespace}/${name}</code>${tenant !== '' && html` <span class="tag">${tenant}</span>`}`
}

function actorText({ user, impersonated, ownCluster, by }: ChangerView): Html {
  const notes = [
    ...(impersonated ? [] : ['no impersonation']),
    ...(ownCluster ? [] : ['by a kubeconfig']),
    ...(by ? [`by way of ${by.account}: ${by.way}`] : []),
  ].join(', ')
  return html`${accountText(user)}${notes !== '' && html`<br><span class="dim small">${notes}</span>`}`
}

function rightsText({ rights }: ChangerView, links: Links): Content {
  if (rights.length === 0) return html`<span class="dim">not known: its rights are not in the fleet</span>`
  return rights.map(right => html`<p>${rightText(right, links)}</p>`)
}

const MAKERS = {
  fleet: '',
  capsule: 'made by Capsule',
  flux: 'of Flux’s own manifests',
  kubernetes: 'made by Kubernetes itself',
}

function rightText({ role, clusterWide, madeBy, origin }: RightView, links: Links): Html {
  return html`${role}${clusterWide && ' in every namespace'} ${origin ? placeLink(links, origin) : html`<span class="dim small">${MAKERS[madeBy]}</span>`}`
}
