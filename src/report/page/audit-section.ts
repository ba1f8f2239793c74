import type { AuditItem, AuditState, ClusterAudit } from '../../audit/audit-item.ts'
import { type Content, type Html, html } from './html.ts'
import { type Links, placeLink } from './links.ts'
import { prose } from './prose.ts'

const LOOKS: Record<AuditState, { readonly tone: string; readonly text: string }> = {
  weak: { tone: 'bad', text: '✗ weak' },
  unknown: { tone: 'warn', text: '? unknown' },
  ok: { tone: 'good', text: '✓ holds' },
}
const ORDER: readonly AuditState[] = ['weak', 'unknown', 'ok']

/** What keeps tenants apart on each cluster, and what does not: the weak first, what holds folded. */
export function auditSection(audit: readonly ClusterAudit[], links: Links): Content {
  if (audit.length === 0) return html`<p>No cluster was checked.</p>`
  return audit.map(({ cluster, items }) => {
    const open = items.filter(({ state }) => state !== 'ok')
    const fine = items.filter(({ state }) => state === 'ok')
    return html`<h3 class="rule">${cluster} <span class="tags">${ORDER.map(state => countTag(state, items))}</span></h3>
${open.length > 0 ? itemTable(cluster, open, links) : html`<p>All checks pass.</p>`}
${fine.length > 0 && html`<details class="more"><summary>Passed on ${cluster} (${fine.length})</summary>${itemTable(`${cluster}, passed checks`, fine, links)}</details>`}
`
  })
}

function countTag(state: AuditState, items: readonly AuditItem[]): Content {
  const number = items.filter(item => item.state === state).length
  return number > 0 && html`<span class="tag ${LOOKS[state].tone}">${LOOKS[state].text} ${number}</span>`
}

function itemTable(label: string, items: readonly AuditItem[], links: Links): Html {
  const sorted = [...items].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state))
  const rows = sorted.map(
    ({
      check,
      subject,
      state,
      message,
      why,
      fix,
      origin,
    }) => html`<tr><td class="cell"><span class="tag ${LOOKS[state].tone}">${LOOKS[state].text}</span></td><th scope="row"><code>${check}</code>${subject !== '' && html`<br><span class="dim small">${subject}</span>`}</th><td class="wide"><p>${prose(message)}</p>${state !== 'ok' && html`<p class="dim small">${prose(why)}</p>`}${fix !== '' && html`<p class="small"><strong>Fix:</strong> ${prose(fix)}</p>`}${origin && origin.file !== '' && html`<p class="small">${placeLink(links, origin)}</p>`}</td></tr>
`,
  )
  return html`<div class="scroll" role="region" aria-label="Audit of ${label}" tabindex="0"><table>
<thead><tr><th scope="col">State</th><th scope="col">Check</th><th scope="col">What was found</th></tr></thead>
<tbody>
${rows}</tbody>
</table></div>`
}
