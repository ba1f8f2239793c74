import { type ErrorEntry, errorGuide } from '../error-guide.ts'
import { type Html, html } from './html.ts'
import { layout } from './layout.ts'
import { prose } from './prose.ts'
import { matches, searchForm } from './search-form.ts'

/** Every error code with its meaning and remedy, its code as anchor. `search`: only codes with all of these words. */
export function errorsPage(search = ''): string {
  const found = errorGuide.filter(({ code, means, remedy }) => matches(search, code, means, remedy))
  return layout(
    { title: 'Error codes', crumbs: [{ text: 'Error codes' }] },
    html`<h1 class="page">Error codes</h1>
<p>An error says that something could not be evaluated. It blocks the merge. Codes that are also <a href="/rules">rules</a> are explained there.</p>
${searchForm('/errors', search, found.length, errorGuide.length, 'codes')}
${found.map(chapter)}`,
  )
}

function chapter({ code, means, remedy }: ErrorEntry): Html {
  return html`<article class="finding" id="${code}"><h2 class="rule"><a href="#${code}"><code>${code}</code></a></h2>
<p>${prose(means)}</p>
<p><strong>What to do:</strong> ${prose(remedy)}</p>
</article>
`
}
