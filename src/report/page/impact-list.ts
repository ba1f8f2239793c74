import type { ImpactLines } from '../policies/impact-lines.ts'
import { type Content, html } from './html.ts'

/** The effect of changed policies on existing objects, by policy and tenant. */
export function impactList({ lines, left }: ImpactLines): Content {
  return [
    html`<p>The change leaves these objects as they are. A policy, or something that a policy reads, is different.</p>
<ul class="dots">
${lines.map(({ head, tenants }) => html`<li>${head}<ul class="dots">${tenants.map(line => html`<li>${line}</li>`)}</ul></li>`)}
</ul>`,
    left > 0 && html`<p class="dim">and ${left} more ${left === 1 ? 'policy' : 'policies'}</p>`,
  ]
}
