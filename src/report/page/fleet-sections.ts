import type { NotSeen } from '../../fleet/model/fleet.ts'
import type { RuleCoverage } from '../../rules/policies/policy-coverage.ts'
import type { AccessOverview, AccessView, ChangerView, RightView } from '../../verdict/audit/access-overview.ts'
import type { AuditItem, AuditState, ClusterAudit } from '../../verdict/audit/audit-item.ts'
import { count } from '../text/findings.ts'
import type { FleetPage, StoredPolicy } from './fleet-page.ts'
import { type FleetQuery, listed, matches, nameField, queryAddress } from './fleet-query.ts'
import {
  accountText,
  type Content,
  type Html,
  html,
  type Links,
  namesOf,
  num,
  placeLink,
  prose,
  repositoryLink,
  table,
} from './html.ts'

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
  const { shown, pager } = listed(wanted, query, 'tenants', { left: left.tenants ?? 0 })
  const rows = shown.map(({ name, clusters, namespaces, identities }) => {
    const address = queryAddress({ tenant: name.toWellFormed() }, 'violations')
    return html`<tr><th scope="row">${name}</th><td class="num">${number(name) > 0 ? html`<a href="${address}">${number(name)}</a>` : '0'}</td><td>${namesOf(clusters, MAX_LISTED)}</td><td>${namesOf(namespaces, MAX_LISTED, name => html`<a href="${queryAddress({ ...query, namespace: name.toWellFormed() }, 'access')}">${name}</a>`)}</td><td class="wide">${namesOf(identities, MAX_LISTED, name => html`<code>${name}</code>`)}</td></tr>`
  })
  return [table('Tenants', ['Tenant', num('Open violations'), 'Clusters', 'Namespaces', 'Acts as'], rows), pager]
}

/** The sources of a fleet: visible ones with the commit that was evaluated, and the others with the reason. */
export function fleetSources({ sources, notSeen, left }: FleetPage, query: FleetQuery): Content {
  const seen = listed(
    sources.filter(({ id, url, commit }) => matches(query, { texts: [id, url, commit] })),
    query,
    'sources',
    { left: left.sources ?? 0 },
  )
  const hidden = listed(
    notSeen.filter(({ source, url, reason }) => matches(query, { texts: [source, url, reason] })),
    query,
    'hidden',
    { left: left.notSeen ?? 0 },
  )
  const rows = seen.shown.map(({ id, url, commit, used }) => {
    return html`<tr><td>${repositoryLink(url, commit)}</td><td><code>${id}</code></td><td class="num">${used}</td></tr>`
  })
  return [
    rows.length === 0
      ? html`<p>No visible source${query.text !== '' && ' matches the filters'}.</p>`
      : table(
          'Visible sources',
          ['Repository', 'Source', num('Kustomizations')],
          rows,
          'Visible, at the evaluated commits',
        ),
    seen.pager,
    html`<h3 id="hidden">Not visible (${notSeen.length + (left.notSeen ?? 0)})</h3>`,
    hidden.shown.length > 0
      ? sourcesSection(hidden.shown)
      : html`<p>${notSeen.length === 0 ? 'Every source was read.' : 'No source matches the filters.'}</p>`,
    hidden.pager,
  ]
}

/** Sources that are not visible; only the account that applies them was evaluated. */
export function sourcesSection(sources: readonly NotSeen[]): Html {
  const rows = sources.map(
    ({ source, url, reason }) =>
      html`<tr><th scope="row">${source}</th><td>${url !== '' && repositoryLink(url)}</td><td class="wide">${reason}</td></tr>`,
  )
  return table(
    'Sources that are not visible',
    ['Source', 'Address', 'Why'],
    rows,
    'Their content was not evaluated, only the account that applies it.',
  )
}

const LOOKS: Record<AuditState, { readonly tone: string; readonly text: string }> = {
  weak: { tone: 'bad', text: '✗ weak' },
  unknown: { tone: 'warn', text: '? unknown' },
  ok: { tone: 'good', text: '✓ holds' },
}
const ORDER: readonly AuditState[] = ['weak', 'unknown', 'ok']

/** What keeps tenants apart on each cluster, and what does not: the weak first, what passes folded. */
export function auditSection(audit: readonly ClusterAudit[], query: FleetQuery, links: Links, left = 0): Content {
  if (audit.length === 0) return html`<p>No cluster was checked.</p>`
  const rows = audit.flatMap(({ cluster, items }) => items.map(item => ({ ...item, cluster })))
  const wanted = rows.filter(({ cluster, check, subject, message, origin }) =>
    matches(query, { texts: [check, subject, message, origin?.file ?? ''], clusters: [cluster] }),
  )
  wanted.sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state))
  const open = wanted.filter(({ state }) => state !== 'ok')
  const fine = wanted.filter(({ state }) => state === 'ok')
  const first = listed(open, query, 'audit', { left })
  const passed = listed(fine, query, 'passed', { anchor: 'audit' })
  return [
    html`<ul class="plain">${audit.map(({ cluster, items }) => html`<li>${cluster} <span class="tags">${ORDER.map(state => countTag(state, items))}</span></li>`)}</ul>`,
    open.length > 0 ? itemTable('Weak and unknown settings', first.shown, links) : html`<p>All checks pass.</p>`,
    first.pager,
    fine.length > 0 &&
      html`<details class="more"${query.parts.passed !== undefined && html` open`}><summary>Passed checks (${fine.length})</summary>${itemTable('Passed checks', passed.shown, links)}${passed.pager}</details>`,
  ]
}

function countTag(state: AuditState, items: readonly AuditItem[]): Content {
  const number = items.filter(item => item.state === state).length
  return number > 0 && html`<span class="tag ${LOOKS[state].tone}">${LOOKS[state].text} ${number}</span>`
}

type ListedItem = AuditItem & { readonly cluster: string }

function itemTable(label: string, items: readonly ListedItem[], links: Links): Html {
  const rows = items.map(
    ({ cluster, check, subject, state, message, why, fix, origin }) =>
      html`<tr><td class="cell"><span class="tag ${LOOKS[state].tone}">${LOOKS[state].text}</span></td><td>${cluster}</td><th scope="row"><code>${check}</code>${subject !== '' && html`<br><span class="dim small">${subject}</span>`}</th><td class="wide"><p>${prose(message)}</p>${state !== 'ok' && html`<p class="dim small">${prose(why)}</p>`}${fix !== '' && html`<p class="small"><strong>Fix:</strong> ${prose(fix)}</p>`}${origin && origin.file !== '' && html`<p class="small">${placeLink(links, origin)}</p>`}</td></tr>`,
  )
  return table(label, ['State', 'Cluster', 'Check', 'What was found'], rows)
}

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
  return table(
    `Who can change ${namespace} on ${cluster}`,
    ['Who may write here', 'decides what this applies', 'acting as', 'with'],
    [...groups.values()].flatMap(group => changerRows(group, links)),
  )
}

/** Subjects that act as the same account with the same rights: listed once. */
function changerRows(group: readonly ChangerView[], links: Links): Html[] {
  return group.map((changer, at) => {
    const own = html`<td>${repositoryText(changer)}</td><td>${objectText(changer)}</td>`
    if (at > 0) return html`<tr>${own}</tr>`
    const rows = group.length
    return html`<tr>${own}<td rowspan="${rows}">${actorText(changer)}</td><td class="wide" rowspan="${rows}">${rightsText(changer, links)}</td></tr>`
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

/** Exceptions, and rules, of a policy that are listed. */
const MAX_EXCEPTIONS = 10
const MAX_RULES = 20

/** The admission policies of a fleet by cluster: their results for the objects, unsupported parts, and exceptions. */
export function policiesSection(policies: readonly StoredPolicy[], query: FleetQuery, links: Links, left = 0): Content {
  if (policies.length === 0) return html`<p>The platform renders no admission policy.</p>`
  const wanted = policies.filter(({ cluster, kind, namespace, name, rules }) =>
    matches(query, { texts: [kind, namespace, name, ...rules.map(({ rule }) => rule)], clusters: [cluster] }),
  )
  if (wanted.length === 0) return html`<p>No policy matches the filters.</p>`
  const { shown, pager } = listed(wanted, query, 'policies', { left })
  return [
    html`<p>The result of each policy for the objects of the fleet, as if they were created now.</p>`,
    [...Map.groupBy(shown, ({ cluster }) => cluster)].map(
      ([
        cluster,
        own,
      ]) => html`<h3 class="rule">${cluster} <span class="dim small">${own.length === 1 ? '1 policy' : `${own.length} policies`}</span></h3>
${table(
  `Policies of ${cluster}`,
  ['Policy', 'Rule', 'Answers', 'Not evaluated'],
  own.flatMap(policy => policyRows(policy, links)),
)}
`,
    ),
    pager,
  ]
}

function policyRows(policy: StoredPolicy, links: Links): Html[] {
  const rows = policy.rules.length > 0 ? policy.rules.slice(0, MAX_RULES) : [undefined]
  const more = Math.max(0, policy.rules.length - rows.length) + (policy.moreRules ?? 0)
  return rows.map(
    (rule, at) =>
      html`<tr>${at === 0 && html`<th scope="rowgroup" rowspan="${rows.length}">${head(policy, links)}${more > 0 && html`<p class="dim small">and ${more} more rules</p>`}</th>`}${cells(policy, rule)}</tr>`,
  )
}

function head({ kind, namespace, name, origin, exceptions, moreExceptions = 0 }: StoredPolicy, links: Links): Html {
  const excepted = exceptions.slice(0, MAX_EXCEPTIONS)
  const left = exceptions.length - excepted.length + moreExceptions
  return html`${name}<br><span class="dim small">${kind}${namespace !== '' && ` in ${namespace}`}</span><br><span class="small">${placeLink(links, origin)}</span>${
    excepted.length > 0 &&
    html`<p class="small">Exceptions: ${excepted.map(one => html`${one.name} (${placeLink(links, one.origin)}) `)}${left > 0 && `and ${left} more`}</p>`
  }`
}

function cells({ notEvaluated }: StoredPolicy, rule: RuleCoverage | undefined): Html {
  const parts = notEvaluated.map(part => (part === 'kind' ? 'the whole policy' : part)).join(', ')
  if (!rule) {
    const says = parts === '' ? 'It selects no object of the fleet.' : ''
    return html`<td></td><td>${says}</td><td>${parts}</td>`
  }
  const { passed, denied, warned, audited, why } = rule
  const answers = [
    [denied, 'bad', 'denied'],
    [warned, 'warn', 'warned'],
    [audited, 'warn', 'audited'],
    [passed, 'good', 'passed'],
  ] as const
  const tags = answers.flatMap(([number, tone, word]) =>
    number > 0 ? [html`<span class="tag ${tone}">${number.toLocaleString('en-US')} ${word}</span> `] : [],
  )
  return html`<td><code>${rule.rule}</code></td><td><span class="tags">${tags}</span></td><td class="wide">${rule.notEvaluated > 0 && html`${count(rule.notEvaluated, 'object')}: ${why}<br>`}${parts}</td>`
}
