import type { ListedFinding } from './fleet-findings.ts'
import type { FleetPage } from './fleet-page.ts'
import { type FleetQuery, matches } from './fleet-query.ts'
import { type Content, type Html, html } from './html.ts'
import { type Links, placeLink } from './links.ts'
import { paged } from './paged.ts'
import { prose } from './prose.ts'

/** Findings of the branch by tenant, each with its line at the evaluated commit. */
export function violationsSection({ findings = [], left }: FleetPage, query: FleetQuery, links: Links): Content {
  if (findings.length === 0) return html`<p>The branch has no violation, warning or evaluation error.</p>`
  const wanted = findings.filter(one => isWanted(one, query))
  if (wanted.length === 0) return html`<p>No finding matches the filters.</p>`
  const { shown, pager } = paged(wanted, query, 'violations', { left: left.findings ?? 0 })
  const totals = Map.groupBy(wanted, ({ tenant }) => tenant)
  return [
    html`<p>On the branch, whether or not a pull request changes it. Only what a pull request adds or changes blocks it.</p>`,
    [...Map.groupBy(shown, ({ tenant }) => tenant)].map(
      ([
        tenant,
        own,
      ]) => html`<h3 class="rule">${tenant === '' ? 'Platform' : tenant} <span class="tags">${totalsOf(totals.get(tenant) ?? [])}</span></h3>
${findingTable(tenant, own, links)}
`,
    ),
    pager,
  ]
}

function isWanted(one: ListedFinding, query: FleetQuery): boolean {
  const { kind, state, rule, tenant, clusters, moreClusters, object, message, origin } = one
  const isState =
    query.state === '' ||
    query.state === 'blocked' ||
    query.state === 'passed' ||
    (kind === 'violation' ? query.state === state : query.state === kind)
  const texts = [rule, object, message, origin.file, origin.repository]
  // what is not stored cannot be excluded
  const on = moreClusters === undefined ? { clusters } : {}
  return isState && matches(query, { texts, tenants: [tenant], ...on })
}

const LOOKS = {
  open: { tone: 'bad', text: '✗ open' },
  accepted: { tone: 'none', text: 'in the baseline' },
  waived: { tone: 'none', text: 'waived' },
} as const

function totalsOf(own: readonly ListedFinding[]): Html[] {
  const number = (kind: ListedFinding['kind'], state?: ListedFinding['state']) =>
    own.filter(one => one.kind === kind && (state === undefined || one.state === state)).length
  const totals = [
    ['bad', number('violation', 'open'), 'open'],
    ['bad', number('error'), 'not evaluated'],
    ['none', number('violation', 'accepted'), 'in the baseline'],
    ['none', number('violation', 'waived'), 'waived'],
    ['warn', number('warning'), number('warning') === 1 ? 'warning' : 'warnings'],
  ] as const
  return totals.flatMap(([tone, count, text]) =>
    count > 0 ? [html`<span class="tag ${tone}">${count.toLocaleString('en-US')} ${text}</span>`] : [],
  )
}

function findingTable(tenant: string, findings: readonly ListedFinding[], links: Links): Html {
  return html`<div class="scroll" role="region" aria-label="Findings of ${tenant === '' ? 'the platform' : tenant}" tabindex="0"><table>
<thead><tr><th scope="col">State</th><th scope="col">Rule</th><th scope="col">Finding</th><th scope="col">Line</th><th scope="col">Clusters</th></tr></thead>
<tbody>
${findings.map(one => findingRow(one, links))}</tbody>
</table></div>`
}

function findingRow(one: ListedFinding, links: Links): Html {
  const { kind, rule, severity, object, objects, message, origin, waiver } = one
  return html`<tr><td class="cell">${stateTag(one)}</td><th scope="row"><code>${rule}</code>${kind !== 'error' && html`<br><span class="dim small">${severity}</span>`}</th><td class="wide">${object !== '' && html`<strong>${object}</strong>${objects > 1 && html` <span class="dim small">and ${objects - 1} more</span>`}<br>`}${prose(message)}${waiver && html`<p class="dim small">Waived until ${waiver.expires} by ${waiver.approver}: ${waiver.reason}</p>`}</td><td>${placeLink(links, origin)}</td><td>${clustersOf(one)}</td></tr>
`
}

/** Clusters that a row lists. */
const MAX_LISTED = 6

function clustersOf({ clusters, moreClusters = 0 }: ListedFinding): Content {
  const left = clusters.length + moreClusters - MAX_LISTED
  return [clusters.slice(0, MAX_LISTED).join(', '), left > 0 && html` <span class="dim small">and ${left} more</span>`]
}

function stateTag({ kind, state }: ListedFinding): Html {
  if (kind === 'warning') return html`<span class="tag warn">warning</span>`
  if (kind === 'error' && state === 'open') return html`<span class="tag bad">✗ not evaluated</span>`
  const { tone, text } = LOOKS[state]
  return html`<span class="tag ${tone}">${text}</span>`
}
