import { isAddress } from '../text/place.ts'
import type { FleetPage, ListedFinding } from './fleet-page.ts'
import { type FleetPulls, pullsOf, pullsSection } from './fleet-pulls.ts'
import { type FleetQuery, fleetFilter, listed, matches, NO_QUERY, withFewerRows } from './fleet-query.ts'
import { accessSection, auditSection, fleetSources, fleetTenants, policiesSection } from './fleet-sections.ts'
import {
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
  when,
} from './html.ts'
import { contents, type Frame, layout, section, tiles } from './layout.ts'
import { kustomizationsSection } from './render-graph-page.ts'

/** What one look at a fleet asks for, and what is known at that moment. */
interface FleetLook {
  readonly reader?: Frame['reader']
  /** Absent: all of it. */
  readonly query?: FleetQuery
  /** Its open pull requests, as far as they are stored. */
  readonly pulls?: FleetPulls | undefined
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
  const parts = sectionsOf(page, look).map(([id, title, content]) => ({ id, title, content }))
  return layout(
    { title: `Fleet ${name}`, crumbs: [{ text: name, href: page.repository }, { text: 'fleet' }], reader: look.reader },
    [head(page), contents(parts), fleetFilter(page, look.query, 'fleet'), parts.map(section)],
  )
}

function sectionsOf(
  page: FleetPage,
  { query, queue, pulls }: FleetLook & { readonly query: FleetQuery },
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
    ['history', 'History of decisions', historySection(page)],
    ['queue', 'Queue', queueSection(queue)],
  ]
}

function head(page: FleetPage): Html {
  const { owner, repo, repository, branch, commit, at, assumed, clusters, tenants, counts, sources, notSeen } = page
  const all = (name: string, list: readonly unknown[]) => list.length + (page.left[name] ?? 0)
  const numbers = [
    [clusters.length === 1 ? 'cluster' : 'clusters', clusters.length],
    [all('tenants', tenants) === 1 ? 'tenant' : 'tenants', all('tenants', tenants)],
    ['Kustomizations', counts.nodes],
    ['objects', counts.objects],
    ['visible sources', all('sources', sources)],
    ['not visible', all('notSeen', notSeen)],
    ['open violations', counts.violations],
    ['evaluation errors', counts.errors],
  ] as const
  return html`<h1 class="page">Fleet ${owner}/${repo}</h1>
<p class="dim">Branch <code>${branch}</code> at ${repositoryLink(repository, commit)}, evaluated ${when(at)}</p>
${assumed !== undefined && html`<p>${assumed}</p>`}
${tiles(numbers)}`
}

/** Where the decisions of the fleet are recorded. */
function historySection({ repository, trail }: FleetPage): Html {
  if (trail === 'off')
    return html`<p>The trail is off: decisions are not recorded. The setting <code>TRAIL=on</code> of the workers records them on the branch <code>bailiwick/trail</code> of this repository.</p>`
  const address = `${repository}/tree/bailiwick/trail`
  const branch = html`<code>bailiwick/trail</code>`
  return html`<p>The branch ${isAddress(address) ? html`<a href="${address}">${branch}</a>` : branch} has every decision: <code>bailiwick trail show</code> lists them in a clone.</p>`
}

/** Findings of the branch by tenant, each with its line at the evaluated commit. */
export function violationsSection({ findings = [], left }: FleetPage, query: FleetQuery, links: Links): Content {
  if (findings.length === 0) return html`<p>The branch has no violation, warning or evaluation error.</p>`
  const wanted = findings.filter(one => isWanted(one, query))
  if (wanted.length === 0) return html`<p>No finding matches the filters.</p>`
  const { shown, pager } = listed(wanted, query, 'violations', { left: left.findings ?? 0 })
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
  return table(
    `Findings of ${tenant === '' ? 'the platform' : tenant}`,
    ['State', 'Rule', 'Finding', 'Line', 'Clusters'],
    findings.map(one => findingRow(one, links)),
  )
}

function findingRow(one: ListedFinding, links: Links): Html {
  const { kind, rule, severity, object, objects, message, origin, waiver, clusters, moreClusters } = one
  return html`<tr><td class="cell">${stateTag(one)}</td><th scope="row"><code>${rule}</code>${kind !== 'error' && html`<br><span class="dim small">${severity}</span>`}</th><td class="wide">${object !== '' && html`<strong>${object}</strong>${objects > 1 && html` <span class="dim small">and ${objects - 1} more</span>`}<br>`}${prose(message)}${waiver && html`<p class="dim small">Waived until ${waiver.expires} by ${waiver.approver}: ${waiver.reason}</p>`}</td><td>${placeLink(links, origin)}</td><td>${namesOf(clusters, MAX_LISTED, undefined, moreClusters)}</td></tr>`
}

/** Clusters that a row lists. */
const MAX_LISTED = 6

function stateTag({ kind, state }: ListedFinding): Html {
  if (kind === 'warning') return html`<span class="tag warn">warning</span>`
  if (kind === 'error' && state === 'open') return html`<span class="tag bad">✗ not evaluated</span>`
  const { tone, text } = LOOKS[state]
  return html`<span class="tag ${tone}">${text}</span>`
}

/** How many jobs of a kind are in a state. */
export interface QueueRow {
  readonly queue: string
  readonly waiting: number
  readonly active: number
  readonly delayed: number
  /** Given up, and kept to be looked at. */
  readonly failed: number
}

const STATES = ['waiting', 'active', 'delayed', 'failed'] as const

/** The state of the queue at this moment: the jobs that wait, run or failed. */
function queueSection(queue: readonly QueueRow[] | undefined): Html {
  if (queue === undefined)
    return html`<p><span class="tag bad">the queue does not answer</span> Nothing is evaluated until it does. No job is lost.</p>`
  const busy = queue.filter(one => STATES.some(state => one[state] > 0))
  if (busy.length === 0) return html`<p>The queue is empty: no job waits, runs or failed.</p>`
  const rows = busy.map(
    ({ queue, waiting, active, delayed, failed }) =>
      html`<tr><th scope="row"><code>${queue}</code></th><td class="num">${waiting}</td><td class="num">${active}</td><td class="num">${delayed}</td><td class="num">${failed > 0 ? html`<span class="tag warn">${failed}</span>` : '0'}</td></tr>`,
  )
  return table(
    'Jobs by state',
    ['Jobs', num('Waiting'), num('Running'), num('Delayed'), num('Given up')],
    rows,
    'Of the whole installation, at the moment of this page',
  )
}
