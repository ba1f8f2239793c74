import type { FleetPage } from './fleet-page.ts'
import { type Content, type Html, html, paged } from './html.ts'

/** Which findings are listed, or which pull requests; `error` is a state of both. */
const STATES = ['open', 'accepted', 'waived', 'warning', 'error', 'blocked', 'passed'] as const

/** The sections of a fleet's page whose lists have parts. */
const LISTS = [
  'pulls',
  'violations',
  'audit',
  'passed',
  'policies',
  'tenants',
  'kustomizations',
  'sources',
  'hidden',
] as const

type ListName = (typeof LISTS)[number]

/** What one request for the page of a fleet asks for. Every text has a bounded length and no unpaired surrogate. */
export interface FleetQuery {
  /** Text that a row must contain; '' for no filter. */
  readonly text: string
  /** Name of the only tenant; '' for all of them. */
  readonly tenant: string
  readonly cluster: string
  readonly state: (typeof STATES)[number] | ''
  /** The namespace that the access explorer is asked about; '' for none. */
  readonly namespace: string
  /** Width of the graph's picture in percent of its own size; undefined: as wide as the page. */
  readonly zoom: number | undefined
  /** Rows in one part of a list. */
  readonly rows: (typeof ROWS)[number]
  /** Part of a list, from 1; the first one where none is named. */
  readonly parts: Readonly<Partial<Record<ListName, number>>>
}

/** Longer than what people search for, and than most names. */
const MAX_TEXT = 100
/** The longest name of Kubernetes; a file name has two characters more. */
const MAX_NAME = 255
/** In percent. */
export const ZOOMS = [75, 100, 150, 200] as const

/** Rows in one part of a list: fewer where names are so long that the page would be large. Each is half of the one before. */
const ROWS = [24, 12, 6, 3] as const

/** Asks for everything. */
export const NO_QUERY: FleetQuery = {
  ...{ text: '', tenant: '', cluster: '', state: '', namespace: '', zoom: undefined, rows: ROWS[0], parts: {} },
}

/** Reads the query of a request. Unknown parameters and values that are not allowed count as absent. */
export function readFleetQuery(params: URLSearchParams): FleetQuery {
  const text = (name: string, most: number) => (params.get(name) ?? '').trim().slice(0, most).toWellFormed()
  const number = (name: string) => {
    const value = params.get(name) ?? ''
    return /^\d{1,6}$/.test(value) ? Number(value) : undefined
  }
  const parts = LISTS.flatMap(list => {
    const part = number(`${list}-part`)
    return part === undefined ? [] : [[list, part] as const]
  })
  return {
    text: text('text', MAX_TEXT),
    tenant: text('tenant', MAX_NAME),
    cluster: text('cluster', MAX_NAME),
    state: STATES.find(state => state === params.get('state')) ?? '',
    namespace: text('namespace', MAX_NAME),
    rows: ROWS.find(rows => rows === number('rows')) ?? ROWS[0],
    zoom: ZOOMS.find(zoom => zoom === number('zoom')),
    parts: Object.fromEntries(parts),
  }
}

/** The same query with half as many rows in each part; what is shown begins at the same rows. Undefined where there are no fewer. */
export function withFewerRows(query: FleetQuery): FleetQuery | undefined {
  const rows = ROWS[ROWS.indexOf(query.rows) + 1]
  if (rows === undefined) return undefined
  const parts = Object.entries(query.parts).map(([list, part]) => [list, 2 * part - 1] as const)
  return { ...query, rows, parts: Object.fromEntries(parts) }
}

/** The address of the same page with another query, relative to the page. A list that is filtered anew begins at its first part. */
export function queryAddress(query: Partial<FleetQuery>, anchor = ''): string {
  const { text = '', tenant = '', cluster = '', state = '', namespace = '', zoom, rows = ROWS[0], parts = {} } = query
  const named = Object.entries({ text, tenant, cluster, state, namespace }).filter(([, value]) => value !== '')
  const listed = Object.entries(parts).flatMap(([list, part]) =>
    part > 1 ? [[`${list}-part`, String(part)] as const] : [],
  )
  const sizes = [...(rows === ROWS[0] ? [] : [['rows', rows]]), ...(zoom === undefined ? [] : [['zoom', zoom]])]
  const params = new URLSearchParams(Object.fromEntries([...named, ...listed, ...sizes]))
  return `?${params.toString()}${anchor === '' ? '' : `#${anchor}`}`
}

/** A row as filters see it. */
interface FilteredRow {
  readonly texts: readonly string[]
  /** Absent: the row is not of a tenant, and stays whatever tenant is asked for. */
  readonly tenants?: readonly string[]
  readonly clusters?: readonly string[]
}

/** Whether a row is what the query asks for; its state aside. Case does not matter. */
export function matches(query: Pick<FleetQuery, 'text' | 'tenant' | 'cluster'>, row: FilteredRow): boolean {
  const has = (wanted: string, names: readonly string[] | undefined) =>
    wanted === '' || names === undefined || names.some(name => name.toLowerCase() === wanted.toLowerCase())
  if (!has(query.tenant, row.tenants) || !has(query.cluster, row.clusters)) return false
  const wanted = query.text.toLowerCase()
  return wanted === '' || row.texts.some(text => text.toLowerCase().includes(wanted))
}

/** With more names than this a field takes the place of a list: its options would be most of the page. */
const MAX_OPTIONS = 100

const STATE_NAMES: Record<(typeof STATES)[number], string> = {
  open: 'open violations',
  accepted: 'violations in the baseline',
  waived: 'waived violations',
  warning: 'warnings',
  error: 'evaluation errors',
  blocked: 'blocked pull requests',
  passed: 'pull requests that pass',
}

/** The filters of a fleet's page as a form; its values stand in the address, which can be shared. */
export function fleetFilter({ tenants, clusters }: FleetPage, query: FleetQuery, view: 'graph' | 'fleet'): Html {
  const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name)
  const isFiltered = [query.text, query.tenant, query.cluster, query.state].some(value => value !== '')
  return html`<form class="ask" method="get" aria-label="Filters"><div><label for="text">Contains</label>
<input id="text" name="text" type="search" maxlength="100" value="${query.text}"></div>
${nameField('tenant', 'Tenant', names(tenants), query.tenant)}
${nameField('cluster', 'Cluster', names(clusters), query.cluster)}
${view === 'fleet' && stateField(query)}<button type="submit">Filter</button>${isFiltered && html` <a href="${queryAddress({ namespace: query.namespace })}">Show everything</a>`}</form>
${isFiltered && view === 'fleet' && html`<p class="dim small">Contains, tenant and cluster filter every list whose rows have them; state filters pull requests and violations.</p>`}
${unknown('tenant', query.tenant, names(tenants))}${unknown('cluster', query.cluster, names(clusters))}`
}

function stateField({ state: chosen }: FleetQuery): Html {
  return html`<div><label for="state">State</label>
<select id="state" name="state"><option value="">any state</option>${STATES.map(state => html`<option value="${state}"${state === chosen && html` selected`}>${STATE_NAMES[state]}</option>`)}</select></div>
`
}

/** A choice of a few names, or a field to type one of many in. */
export function nameField(id: string, label: string, names: readonly string[], value: string, none = 'all'): Html {
  if (names.length > MAX_OPTIONS)
    return html`<div><label for="${id}">${label}</label>
<input id="${id}" name="${id}" type="search" maxlength="255" value="${value}"></div>`
  return html`<div><label for="${id}">${label}</label>
<select id="${id}" name="${id}"><option value="">${none}</option>${names.map(name => html`<option value="${name}"${name === value && html` selected`}>${name}</option>`)}</select></div>`
}

function unknown(noun: string, wanted: string, names: readonly string[]): Content {
  const isKnown = wanted === '' || names.some(name => name.toLowerCase() === wanted.toLowerCase())
  return !isKnown && html`<p>This fleet has no ${noun} ${wanted}.</p>`
}

/** The part of a list that a query asks for, or the last one if there are fewer. `left`: rows that the page does not hold. */
export function listed<T>(
  rows: readonly T[],
  query: FleetQuery,
  list: keyof FleetQuery['parts'],
  { anchor = list, left = 0 }: { readonly anchor?: string; readonly left?: number } = {},
): ReturnType<typeof paged<T>> {
  const addressOf = (part: number) => queryAddress({ ...query, parts: { ...query.parts, [list]: part } }, anchor)
  const { shown, pager } = paged(rows, query.parts[list] ?? 1, query.rows, addressOf)
  const rest = html`<p class="dim">${left.toLocaleString('en-US')} more are not stored for this page.</p>`
  return { shown, pager: [pager, left > 0 && rest] }
}
