import type { NotReached } from '../../fleet/model/fleet.ts'
import { placeOf } from '../text/place.ts'
import { type Html, html } from './html.ts'

/** Kustomizations that no cluster builds: nothing is known about what they would apply. */
export function notReachedSection(list: readonly NotReached[]): Html {
  const rows = list.map(
    ({ id, origin, reason }) =>
      html`<tr><th scope="row">${id}</th><td><code>${placeOf(origin, origin.repository)}</code></td><td class="wide">${reason}</td></tr>
`,
  )
  return html`<div class="scroll" role="region" aria-label="Kustomizations that no cluster builds" tabindex="0"><table>
<caption>No cluster builds these Kustomizations, so what they would apply was not evaluated.</caption>
<thead><tr><th scope="col">Kustomization</th><th scope="col">File</th><th scope="col">Why</th></tr></thead>
<tbody>
${rows}</tbody>
</table></div>`
}
