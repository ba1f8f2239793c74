import type { FleetPage } from './fleet-page.ts'
import { type FleetQuery, queryAddress, STATES } from './fleet-query.ts'
import { type Content, type Html, html } from './html.ts'

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
