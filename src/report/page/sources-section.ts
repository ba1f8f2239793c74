import type { NotSeen } from '../../fleet/model/fleet.ts'
import { type Html, html } from './html.ts'
import { repositoryLink } from './links.ts'

/** Sources that are not visible; only the account that applies them was evaluated. */
export function sourcesSection(sources: readonly NotSeen[]): Html {
  const rows = sources.map(
    ({
      source,
      url,
      reason,
    }) => html`<tr><th scope="row">${source}</th><td>${url !== '' && repositoryLink(url)}</td><td class="wide">${reason}</td></tr>
`,
  )
  return html`<div class="scroll" role="region" aria-label="Sources that are not visible" tabindex="0"><table>
<caption>Their content was not evaluated, only the account that applies it.</caption>
<thead><tr><th scope="col">Source</th><th scope="col">Address</th><th scope="col">Why</th></tr></thead>
<tbody>
${rows}</tbody>
</table></div>`
}
