import { display } from '../../kube/object.ts'
import type { Finding, Severity } from '../../rules/finding.ts'
import { clusterAnswer } from '../cluster-answer.ts'
import { type FindingGroup, groupFindings } from '../group-findings.ts'
import { count } from '../headline.ts'
import { type Content, type Html, html } from './html.ts'
import { type Links, placeLink } from './links.ts'
import { prose } from './prose.ts'
import { traceList } from './trace-list.ts'

/** How many findings a page shows in one list. */
const MAX_SHOWN = 300
/** So few that all of each is shown at once. */
const FEW = 3

const TONES: Record<Severity, string> = { critical: 'bad', high: 'bad', medium: 'warn', low: 'none' }

/** Findings by rule, the most severe first; each once for all clusters that have it. */
export function findingsSection(findings: readonly Finding[], links: Links): Content {
  const groups = groupFindings(findings)
  const shown = groups.slice(0, MAX_SHOWN)
  const rules = [...Map.groupBy(shown, ({ finding }) => finding.rule)]
  return [
    rules.map(([rule, list]) => ruleBlock(rule, list, links, groups.length <= FEW)),
    groups.length > shown.length && html`<p class="dim">and ${groups.length - shown.length} more</p>`,
  ]
}

/** Findings that need nobody now, folded; undefined where there are none. */
export function foldedFindings(title: string, findings: readonly Finding[], links: Links): Html | undefined {
  if (findings.length === 0) return undefined
  return html`<details class="more"><summary>${title} (${findings.length})</summary>
${findingsSection(findings, links)}
</details>
`
}

function ruleBlock(rule: string, groups: readonly FindingGroup[], links: Links, open: boolean): Html {
  const [first] = groups
  const severity = first?.finding.severity ?? 'low'
  const total = groups.reduce((sum, { clusters }) => sum + clusters.length, 0)
  const noun = first?.finding.level === 'warning' ? 'warning' : 'violation'
  return html`<h3 class="rule"><a href="/rules#${rule}"><code>${rule}</code></a> <span class="tag ${TONES[severity]}">${severity}</span> <span class="dim small">${count(total, noun)}</span></h3>
${groups.map(group => findingCard(group, links, open))}`
}

function findingCard({ finding, clusters }: FindingGroup, links: Links, open: boolean): Html {
  const answer = clusterAnswer(finding)
  return html`<article class="finding">
<header><h4>${display(finding.object)}</h4><span class="tags">${clusters.map(name => html`<span class="tag">${name}</span>`)}<span class="tag">${finding.tenant === '' ? 'the platform' : finding.tenant}</span></span></header>
<p>${prose(finding.message)}</p>
<p>${placeLink(links, finding.origin)}</p>
${answer && html`<div class="said"><span class="label">The cluster would have said</span>${answer.verbatim ? html`<code>${answer.text}</code>` : prose(answer.text)}</div>`}
${finding.fix !== '' && html`<p><strong>Fix:</strong> ${prose(finding.fix)}</p>`}
<details${open && html` open`}><summary>How it comes to the cluster</summary>
${traceList(finding, links)}
</details>
</article>
`
}
