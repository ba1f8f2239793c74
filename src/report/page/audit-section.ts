import type { AuditItem, AuditState, ClusterAudit } from '../../audit/audit-item.ts'
import { type FleetQuery, matches } from './fleet-query.ts'
import { type Content, type Html, html } from './html.ts'
import { type Links, placeLink } from './links.ts'
import { paged } from './paged.ts'
import { prose } from './prose.ts'

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
  const first = paged(open, query, 'audit', { left })
  const passed = paged(fine, query, 'passed', { anchor: 'audit' })
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
    ({
      cluster,
      check,
      subject,
      state,
      message,
      why,
      fix,
      origin,
    }) => html`<tr><td class="cell"><span class="tag ${LOOKS[state].tone}">${LOOKS[state].text}</span></td><td>${cluster}</td><th scope="row"><code>${check}</code>${subject !== '' && html`<br><span class="dim small">${subject}</span>`}</th><td class="wide"><p>${prose(message)}</p>${state !== 'ok' && html`<p class="dim small">${prose(why)}</p>`}${fix !== '' && html`<p class="small"><strong>Fix:</strong> ${prose(fix)}</p>`}${origin && origin.file !== '' && html`<p class="small">${placeLink(links, origin)}</p>`}</td></tr>
`,
  )
  return html`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table>
<thead><tr><th scope="col">State</th><th scope="col">Cluster</th><th scope="col">Check</th><th scope="col">What was found</th></tr></thead>
<tbody>
${rows}</tbody>
</table></div>`
}
