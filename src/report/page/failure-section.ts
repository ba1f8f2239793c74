import type { NodeFailure } from '../../rules/finding.ts'
import type { PageError } from './check-page.ts'
import { type Content, type Html, html } from './html.ts'
import { type Links, placeLink } from './links.ts'
import { prose } from './prose.ts'

/** How many of them a page shows. */
const MAX_SHOWN = 300

/** Nodes that could not be decided. */
export function failureSection(failures: readonly NodeFailure[], links: Links): Content {
  const left = failures.length - MAX_SHOWN
  return [
    failures.slice(0, MAX_SHOWN).map(failure => card(failure, links)),
    left > 0 && html`<p class="dim">and ${left} more</p>`,
  ]
}

function card({ code, message, fix, origin, node, tenant }: NodeFailure, links: Links): Html {
  const title = node === '' ? 'The fleet' : `Kustomization ${node}`
  return html`<article class="finding">
<header><h3 class="rule">${title} <span class="tag warn">${code}</span></h3><span class="tag">${tenant === '' ? 'the platform' : tenant}</span></header>
${body({ message, fix }, origin, links)}
</article>
`
}

/** Why nothing was judged at all. */
export function errorSection({ code, message, fix, origin }: PageError, links: Links): Html {
  return html`<article class="finding">
<header><h3 class="rule">Could not decide <span class="tag warn">${code}</span></h3></header>
${body({ message, fix }, origin, links)}
</article>`
}

function body({ message, fix }: Pick<PageError, 'message' | 'fix'>, origin: PageError['origin'], links: Links): Html {
  return html`<p>${prose(message)}</p>
${origin && origin.file !== '' && html`<p>${placeLink(links, origin)}</p>`}
${fix !== '' && html`<p><strong>Fix:</strong> ${prose(fix)}</p>`}`
}
