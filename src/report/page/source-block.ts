import type { Fix } from '../../fix/fixes-of.ts'
import type { Finding } from '../../rules/model/finding.ts'
import { type Excerpt, excerptAt } from './excerpt.ts'
import { type Content, type Html, html } from './html.ts'
import type { Links } from './links.ts'

/** What a page knows of the files that it names, besides where they are. */
export interface PageSources extends Links {
  readonly excerpts?: readonly Excerpt[]
  readonly fixes?: readonly Fix[]
}

/** The source lines of a value, with their numbers and the value marked; undefined if the page has none. */
export function sourceBlock({ excerpts = [], here }: PageSources, origin: Finding['origin']): Content {
  const excerpt = origin.repository === here || origin.repository === '' ? excerptAt(excerpts, origin) : undefined
  if (!excerpt) return undefined
  const { file, first, line, lines } = excerpt
  return html`<pre class="diff source" tabindex="0" aria-label="${file}, lines ${first} to ${first + lines.length - 1}">${lines.map((text, at) => lineOf(text, first + at, first + at === line ? excerpt : undefined))}</pre>`
}

function lineOf(text: string | null, number: number, marked: Excerpt | undefined): Html {
  const label = html`<span class="number">${number}</span>`
  if (text === null) return html`<span class="line dim">${label}(not shown)</span>`
  if (!marked) return html`<span class="line">${label}${text}</span>`
  const { start, end } = marked.mark
  return html`<span class="line at">${label}${text.slice(0, start)}<mark>${text.slice(start, end)}</mark>${text.slice(end)}</span>`
}

/** The certain edit of a finding as a diff that can be copied whole; undefined if there is none. */
export function editBlock(patch: readonly string[] | undefined): Content {
  if (!patch) return undefined
  const [from = '', to = '', ...rest] = patch.map(line => line.trimEnd() || ' ')
  const tone = (line: string) => (line.startsWith('+') ? 'add' : line.startsWith('-') ? 'del' : 'dim')
  return html`<p class="small dim">The edit, for <code>git apply</code>:</p>
<pre class="diff copy" tabindex="0" aria-label="Edit of ${from.slice('--- a/'.length)}"><span class="dim">${from}
</span><span class="dim">${to}
</span>${rest.map(
    line => html`<span class="${tone(line)}">${line}
</span>`,
  )}</pre>`
}
