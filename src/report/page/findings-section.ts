import { fixOf, typedMessage, type Worded } from '../../base/message.ts'
import { firstNames } from '../../base/name-list.ts'
import type { Step } from '../../base/origin.ts'
import { display } from '../../kube/object.ts'
import type { Finding, NodeFailure, Severity } from '../../rules/model/finding.ts'
import type { Fix } from '../../verdict/fixes.ts'
import { type FailureGroup, type FindingGroup, groupFailures, groupFindings } from '../../verdict/summary.ts'
import { count, fixMessage, fixOfGroup, noteOf } from '../text/findings.ts'
import { isOfFlux } from '../text/private-words.ts'
import { type Excerpt, excerptAt, type PageError } from './check-page.ts'
import { type Content, type Html, html, type Links, placeLink, prose } from './html.ts'

/** How many findings a page shows in one list. */
const MAX_SHOWN = 300
/** So few that all of each is shown at once. */
const FEW = 3

const TONES: Record<Severity, string> = { critical: 'bad', high: 'bad', medium: 'warn', low: 'none' }

/** Findings by rule, the most severe first; each once for all clusters that have it. */
export function findingsSection(findings: readonly Finding[], links: PageSources): Content {
  const groups = groupFindings(findings)
  const rules = [...Map.groupBy(groups.slice(0, MAX_SHOWN), ({ finding }) => finding.rule)]
  return [rules.map(([rule, list]) => ruleBlock(rule, list, links, groups.length <= FEW)), moreLine(groups.length)]
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
${answer && html`<div class="quote"><span class="label">Cluster response</span>${prose(answer)}</div>`}
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
  return html`<details><summary>${count(objects.length, 'object')}</summary>
<ul>
${objects.slice(0, MAX_SHOWN).map(({ object, clusters, finding }) => html`<li><strong>${display(object)}</strong> on ${clusters.join(', ')}: ${prose(typedMessage(finding))}</li>`)}
</ul>
${moreLine(objects.length)}
</details>`
}

function followerBlock(group: FindingGroup): Html {
  const { finding, objects } = group
  return html`<p>Follows from this: <code>${finding.rule}</code> for ${count(objects.length, 'object')}</p>
${objectFold(group)}`
}

/** Nodes that could not be evaluated. */
export function failureSection(failures: readonly NodeFailure[], links: PageSources): Content {
  const groups = groupFailures(failures)
  return [groups.slice(0, MAX_SHOWN).map(group => card(group, links)), moreLine(groups.length)]
}

const moreLine = (all: number): Content => all > MAX_SHOWN && html`<p class="dim">and ${all - MAX_SHOWN} more</p>`

function card(group: FailureGroup, links: PageSources): Html {
  const { failure, nodes, tenants } = group
  const noun = nodes.length > 1 ? 'Kustomizations' : 'Kustomization'
  const title = nodes.length === 0 ? 'The fleet' : `${noun} ${firstNames(nodes, 10)}`
  const note = noteOf(group, links.here)
  return html`<article class="finding">
<header><h3 class="rule">${title} <span class="tag warn">${failure.code}</span></h3><span class="tags">${tenants.map(name => html`<span class="tag">${name === '' ? 'the platform' : name}</span>`)}</span></header>
${note !== '' && html`<p><strong>${note}</strong></p>`}
${body(failure, links)}
</article>
`
}

/** Why nothing was evaluated at all. */
export function errorSection(error: PageError, links: PageSources): Html {
  return html`<article class="finding">
<header><h3 class="rule">Could not be evaluated <span class="tag warn">${error.code}</span></h3></header>
${body(error, links)}
</article>`
}

function body(text: Worded & Pick<PageError, 'origin'>, links: PageSources): Html {
  const { origin } = text
  return html`<p>${prose(typedMessage(text))}</p>
${
  origin &&
  origin.file !== '' &&
  html`<p>${placeLink(links, origin)}</p>
${sourceBlock(links, origin)}`
}
${text.fix && html`<p><strong>Fix:</strong> ${prose(fixOf(text))}</p>`}`
}

/** What a page knows of the files that it names, besides where they are. */
export interface PageSources extends Links {
  readonly excerpts?: readonly Excerpt[]
  readonly fixes?: readonly Fix[]
}

/** The source lines of a value, with their numbers and the value marked; undefined if the page has none. */
function sourceBlock({ excerpts = [], here }: PageSources, origin: Finding['origin']): Content {
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
function editBlock(patch: readonly string[] | undefined): Content {
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

const STEPS: Record<Step['step'], string> = {
  resource: 'listed by',
  component: 'component of',
  patch: 'patched in by',
  generator: 'generated by',
  transformer: 'transformed by',
  reference: 'referred to by',
  replacement: 'replaced by',
  'flux-target-namespace': 'target namespace',
  'flux-patch': 'Flux patch',
  'flux-component': 'Flux component',
  substitution: 'substituted by',
  'local-config': 'local config',
  kustomization: 'declared in',
}

/** The way of a value from the line that wrote it to the object on the cluster, one step per line. */
function traceList(finding: Finding, links: Links): Html {
  const { origin, via, field, identity, node, object } = finding
  const steps = via.map(one => {
    const { step, file, line } = one
    // steps of kustomize lie in the repository that the origin lies in; those of Flux may lie in the fleet's
    const place = isOfFlux(one)
      ? html`<code>${file}:${line}</code>`
      : placeLink(links, { repository: origin.repository, file, line })
    return html`<li><span class="label">${STEPS[step]}</span>${place}</li>`
  })
  return html`<ol class="trace">
<li><span class="label">written at</span>${placeLink(links, origin)}</li>
${steps}
${node !== '' && html`<li><span class="label">Kustomization</span><code>${node}</code></li>`}
${identity !== '' && html`<li><span class="label">applied as</span><code>${identity}</code></li>`}
<li><span class="label">becomes</span><code>${display(object)}</code>, field <code>${field === '' ? '/' : field}</code></li>
</ol>`
}
