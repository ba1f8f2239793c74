import { fixOf, typedMessage, type Worded } from '../../message/said.ts'
import type { NodeFailure } from '../../rules/model/finding.ts'
import { type FailureGroup, firstOf, groupFailures, noteOf } from '../text/group-failures.ts'
import type { PageError } from './check-page.ts'
import { type Content, type Html, html } from './html.ts'
import { placeLink } from './links.ts'
import { prose } from './prose.ts'
import { type PageSources, sourceBlock } from './source-block.ts'

/** How many of them a page shows. */
const MAX_SHOWN = 300

/** Nodes that could not be evaluated. */
export function failureSection(failures: readonly NodeFailure[], links: PageSources): Content {
  const groups = groupFailures(failures)
  const left = groups.length - MAX_SHOWN
  return [
    groups.slice(0, MAX_SHOWN).map(group => card(group, links)),
    left > 0 && html`<p class="dim">and ${left} more</p>`,
  ]
}

function card({ failure, nodes, tenants }: FailureGroup, links: PageSources): Html {
  const { code, origin } = failure
  const { shown, left } = firstOf(nodes, 10)
  const noun = nodes.length > 1 ? 'Kustomizations' : 'Kustomization'
  const title = nodes.length === 0 ? 'The fleet' : `${noun} ${shown.join(', ')}${left > 0 ? ` and ${left} more` : ''}`
  const note = noteOf(failure)
  return html`<article class="finding">
<header><h3 class="rule">${title} <span class="tag warn">${code}</span></h3><span class="tags">${tenants.map(name => html`<span class="tag">${name === '' ? 'the platform' : name}</span>`)}</span></header>
${note !== '' && html`<p><strong>${note}</strong></p>`}
${body(failure, origin, links)}
</article>
`
}

/** Why nothing was evaluated at all. */
export function errorSection(error: PageError, links: PageSources): Html {
  const { code, origin } = error
  return html`<article class="finding">
<header><h3 class="rule">Could not be evaluated <span class="tag warn">${code}</span></h3></header>
${body(error, origin, links)}
</article>`
}

function body(text: Worded, origin: PageError['origin'], links: PageSources): Html {
  return html`<p>${prose(typedMessage(text))}</p>
${
  origin &&
  origin.file !== '' &&
  html`<p>${placeLink(links, origin)}</p>
${sourceBlock(links, origin)}`
}
${text.fix && html`<p><strong>Fix:</strong> ${prose(fixOf(text))}</p>`}`
}
