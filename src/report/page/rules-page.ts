import type { Rule } from '../../rules/model/rule.ts'
import { rules } from '../../rules/registry.ts'
import { type Html, html } from './html.ts'
import { layout } from './layout.ts'
import { prose } from './prose.ts'

/** Every rule, with its id as anchor: what it finds, why, and what to do. Nothing of any repository. */
export function rulesPage(): string {
  const all = [...rules].sort((a, b) => (a.id < b.id ? -1 : 1))
  return layout(
    { title: 'Rules', crumbs: [{ text: 'Rules' }] },
    html`<h1 class="page">Rules</h1>
<p>Bailiwick checks the objects that a cluster would receive, after every overlay and patch. <code>/bailiwick explain RULE</code> on a pull request shows a rule with its findings there.</p>
${all.map(chapter)}`,
  )
}

function chapter({ id, title, severity, level, why, source, docs }: Rule): Html {
  const counts = level === 'error' ? 'error' : level === 'warning' ? `warning, ${severity}` : severity
  return html`<section id="${id}"><h2><code>${id}</code></h2>
<p><strong>${prose(title)}</strong> <span class="tag">${counts}</span></p>
<p>${prose(why)}</p>
<p><strong>What to do:</strong> ${prose(docs)}</p>
${source !== undefined && html`<p class="dim small">Source: ${source}</p>`}
</section>
`
}
