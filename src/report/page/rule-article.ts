import { exampleOf } from '../../rules/examples.ts'
import type { Rule } from '../../rules/model/rule.ts'
import { exampleBlock } from './example-block.ts'
import { type Content, type Html, html } from './html.ts'
import { prose } from './prose.ts'

/** A rule: what it finds, why, and what to do. `view`: in a list, in a short list with its example folded, or on its own page. */
export function ruleArticle(rule: Rule, view: 'list' | 'short-list' | 'page'): Html {
  const { id, title, severity, level, profile, why, source, docs } = rule
  const counts = level === 'error' ? 'error' : level === 'warning' ? `warning, ${severity}` : severity
  const name = view !== 'page' && html`<h3 class="rule"><a href="#${id}"><code>${id}</code></a></h3>`
  return html`<article class="finding" id="${id}"><header>${name}<span class="tag">${counts}</span></header>
<p><strong>${prose(title)}</strong></p>
<p>${prose(why)}</p>
<p><strong>What to do:</strong> ${prose(docs)}</p>
${profile === 'restricted' && html`<p>In the profile <code>baseline</code> the finding is a warning.</p>`}
${source !== undefined && html`<p class="dim small">Source: ${source}</p>`}
${exampleIn(id, view)}</article>
`
}

function exampleIn(id: string, view: 'list' | 'short-list' | 'page'): Content {
  const example = view === 'page' ? undefined : exampleOf(id)
  if (!example) return undefined
  if (view === 'list') return html`<p class="small"><a href="/rules/${id}">Example of <code>${id}</code></a></p>`
  return html`<details><summary>Example</summary>${exampleBlock(example)}</details>`
}
