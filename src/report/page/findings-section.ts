import { type FindingGroup, groupFindings } from '../../evaluate/verdict/group-findings.ts'
import { display } from '../../kube/object.ts'
import { typedMessage } from '../../message/said.ts'
import type { Finding, Severity } from '../../rules/model/finding.ts'
import { fixOfGroup } from '../text/edit-blocks.ts'
import { fixMessage } from '../text/fix-text.ts'
import { count } from '../text/headline.ts'
import { type Content, type Html, html } from './html.ts'
import { placeLink } from './links.ts'
import { prose } from './prose.ts'
import { editBlock, type PageSources, sourceBlock } from './source-block.ts'
import { traceList } from './trace-list.ts'

/** How many findings a page shows in one list. */
const MAX_SHOWN = 300
/** So few that all of each is shown at once. */
const FEW = 3

const TONES: Record<Severity, string> = { critical: 'bad', high: 'bad', medium: 'warn', low: 'none' }

/** Findings by rule, the most severe first; each once for all clusters that have it. */
export function findingsSection(findings: readonly Finding[], links: PageSources): Content {
  const groups = groupFindings(findings)
  const shown = groups.slice(0, MAX_SHOWN)
  const rules = [...Map.groupBy(shown, ({ finding }) => finding.rule)]
  return [
    rules.map(([rule, list]) => ruleBlock(rule, list, links, groups.length <= FEW)),
    groups.length > shown.length && html`<p class="dim">and ${groups.length - shown.length} more</p>`,
  ]
}

/** Findings that need no action now, folded; undefined if there are none. */
export function foldedFindings(title: string, findings: readonly Finding[], links: PageSources): Html | undefined {
  if (findings.length === 0) return undefined
  return html`<details class="more"><summary>${title} (${groupFindings(findings).length})</summary>
${findingsSection(findings, links)}
</details>
`
}

function ruleBlock(rule: string, groups: readonly FindingGroup[], links: PageSources, open: boolean): Html {
  const [first] = groups
  const severity = first?.finding.severity ?? 'low'
  const noun = first?.finding.level === 'warning' ? 'warning' : 'violation'
  return html`<h3 class="rule"><code>${rule}</code> <span class="tag ${TONES[severity]}">${severity}</span> <span class="dim small">${count(groups.length, noun)}</span></h3>
${groups.map(group => findingCard(group, links, open))}`
}

function findingCard(group: FindingGroup, links: PageSources, open: boolean): Html {
  const { finding, objects, clusters, tenants, followers } = group
  const answer = objects.length === 1 && finding.clusterAnswer
  const title = objects.length === 1 ? display(finding.object) : count(objects.length, 'object')
  return html`<article class="finding">
<header><h4>${title}</h4><span class="tags">${clusterTags(clusters)}${tenants.map(tenant => html`<span class="tag">${tenant === '' ? 'the platform' : tenant}</span>`)}</span></header>
<p>${prose(typedMessage(finding))}</p>
<p>${placeLink(links, finding.origin)}</p>
${sourceBlock(links, finding.origin)}
${clusters.length > 1 && clusterLine(clusters)}
${answer && html`<div class="said"><span class="label">Cluster response</span>${prose(answer)}</div>`}
${finding.fix !== '' && html`<p><strong>Fix:</strong> ${prose(fixMessage(group, links.here))}</p>`}
${editBlock(fixOfGroup(group, links.fixes ?? [])?.patch)}
<details${open && html` open`}><summary>Trace</summary>
${traceList(finding, links)}
</details>
${objects.length > 1 && objectFold(group)}
${followers.map(follower => followerBlock(follower))}
</article>
`
}

/** A tag for each cluster, while they are few. */
function clusterTags(clusters: readonly string[]): Content {
  if (clusters.length > FEW) return html`<span class="tag">${count(clusters.length, 'cluster')}</span>`
  return clusters.map(name => html`<span class="tag">${name}</span>`)
}

function clusterLine(clusters: readonly string[]): Html {
  const text = `Same on ${count(clusters.length, 'cluster')}`
  if (clusters.length <= FEW) return html`<p class="dim small">${text}: ${clusters.join(', ')}</p>`
  return html`<details><summary>${text}</summary><p>${clusters.slice(0, MAX_SHOWN).join(', ')}${clusters.length > MAX_SHOWN && ` and ${clusters.length - MAX_SHOWN} more`}</p></details>`
}

/** Every object that the cause reaches, each with its own words. */
function objectFold({ objects }: FindingGroup): Html {
  const shown = objects.slice(0, MAX_SHOWN)
  return html`<details><summary>${count(objects.length, 'object')}</summary>
<ul>
${shown.map(({ object, clusters, finding }) => html`<li><strong>${display(object)}</strong> on ${clusters.join(', ')}: ${prose(typedMessage(finding))}</li>`)}
</ul>
${objects.length > shown.length && html`<p class="dim">and ${objects.length - shown.length} more</p>`}
</details>`
}

function followerBlock(group: FindingGroup): Html {
  const { finding, objects } = group
  return html`<p>Follows from this: <code>${finding.rule}</code> for ${count(objects.length, 'object')}</p>
${objectFold(group)}`
}
