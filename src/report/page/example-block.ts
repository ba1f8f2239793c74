import type { ExampleFile, RuleExample } from '../../rules/examples.ts'
import { type Html, html } from './html.ts'
import { prose } from './prose.ts'
import { editBlock } from './source-block.ts'

/** A small change that a rule answers, with the line, the finding and the edit. */
export function exampleBlock({ files, line, message, fix, patch }: RuleExample): Html {
  return html`${files.map((file, at) => fileBlock(file, at === 0 ? line : undefined))}
<p><strong>${line === 0 ? 'Finding' : `Finding at line ${line}`}:</strong> ${prose(message)}</p>
<p><strong>Fix:</strong> ${prose(fix)}</p>
${editBlock(patch)}`
}

function fileBlock({ repository, path, text }: ExampleFile, marked: number | undefined): Html {
  const where = repository === 'fleet' ? 'the fleet repository' : 'a tenant’s repository'
  const lines = text.replace(/\n$/, '').split('\n')
  return html`<p class="small dim"><code>${path}</code> in ${where}:</p>
<pre class="diff source" tabindex="0" aria-label="${path}">${lines.map((line, at) => html`<span class="line${at + 1 === marked && ' at'}"><span class="number">${at + 1}</span>${line}</span>`)}</pre>
`
}
