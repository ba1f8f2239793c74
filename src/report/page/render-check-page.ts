import { groupFindings } from '../../evaluate/verdict/group-findings.ts'
import type { NotReached } from '../../fleet/model/fleet.ts'
import { typedMessage } from '../../message/said.ts'
import type { Verdict } from '../../rules/model/finding.ts'
import type { ImpactLines } from '../policies/impact-lines.ts'
import { groupFailures } from '../text/group-failures.ts'
import { count, isNew } from '../text/headline.ts'
import { placeOf } from '../text/place.ts'
import { changesSection } from './changes-section.ts'
import type { CheckPage, PageCommit, PagePull } from './check-page.ts'
import { MAX_EXCERPTS } from './excerpt.ts'
import { errorSection, failureSection } from './failure-section.ts'
import { findingsSection, foldedFindings } from './findings-section.ts'
import { graphSection } from './graph-section.ts'
import { type Content, type Html, html } from './html.ts'
import { icon } from './icon.ts'
import { type Frame, layout } from './layout.ts'
import { repositoryLink } from './links.ts'
import { matrixSection } from './matrix-section.ts'
import { prose } from './prose.ts'
import type { PageSources } from './source-block.ts'
import { sourcesSection } from './sources-section.ts'
import { when } from './when.ts'

/** A part of the page that the list at its top leads to. */
interface Part {
  readonly id: string
  readonly title: string
  readonly content: Content
}

/** The page of one check of a commit as HTML. */
export function renderCheckPage(page: CheckPage, reader?: Frame['reader']): string {
  const { owner, repo, headSha, title } = page
  const frame = {
    title: `${title} · ${owner}/${repo}@${headSha.slice(0, 7)}`,
    crumbs: [
      { text: `${owner}/${repo}`, href: page.repository.startsWith('https://') ? page.repository : '/' },
      { text: headSha.slice(0, 7) },
    ],
    reader,
  }
  const parts = partsOf(page)
  return layout(frame, [
    banner(page),
    facts(page),
    contents(parts),
    parts.map(
      ({ id, title, content }) => html`<section aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
${content}
</section>
`,
    ),
  ])
}

const LOOKS = {
  pass: { tone: 'good', picture: 'pass' },
  fail: { tone: 'bad', picture: 'fail' },
  error: { tone: 'warn', picture: 'unsure' },
} as const

function banner({ title, verdict, assumed, error, conclusion, hidden, about, circumstances }: CheckPage): Html {
  const result = verdict?.result ?? (error ? 'error' : 'pass')
  const { tone, picture } = LOOKS[conclusion === 'success' ? 'pass' : result === 'error' ? 'error' : 'fail']
  const hiddenParts = [
    ...(hidden.violations > 0 ? [count(hidden.violations, 'violation')] : []),
    ...(hidden.errors > 0 ? [count(hidden.errors, 'error')] : []),
  ]
  return html`<div class="verdict ${tone}">
${icon(picture)}
<div><h1>${title}</h1>
<p>${SAYS[conclusion][about]}</p>
${assumed !== undefined && html`<p>${assumed}</p>`}
${hiddenParts.length > 0 && html`<p>${hiddenParts.join(' and ')} elsewhere in the fleet also block. A fleet admin can see which.</p>`}
${circumstances?.hold && html`<p>On hold by <strong>${circumstances.hold.by}</strong>.</p>`}
${circumstances?.override && html`<p>Overridden by <strong>${circumstances.override.by}</strong>: ${circumstances.override.reason}</p>`}
${(circumstances?.demands ?? []).map(({ message, fix }) => html`<p><strong>Needed:</strong> ${message} ${fix}</p>`)}
</div>
</div>`
}

const SAYS = {
  success: {
    'pull-request': 'Evaluated as it would be merged. It does not block the merge.',
    branch: 'Evaluated as it is on the branch.',
    'merge-group': 'Evaluated as the merge queue would merge it. It does not block the merge.',
  },
  failure: {
    'pull-request': 'Evaluated as it would be merged. It blocks the merge.',
    'merge-group': 'Evaluated as the merge queue would merge it. It blocks the merge.',
    branch: 'Evaluated as it is on the branch. Kustomizations with violations or evaluation errors are not applied.',
  },
} as const

function facts({ repository, headSha, check, fleet, at, verdict, about, pull, commit }: CheckPage): Html {
  return html`<dl class="facts">
${pull && pullFacts(repository, pull)}
${commit && commitFacts(repository, commit, about === 'merge-group')}
<div><dt>Commit</dt><dd>${repositoryLink(repository, headSha)}${commit?.subject !== undefined && ` ${commit.subject}`}</dd></div>
<div><dt>Check</dt><dd>${check}</dd></div>
${fleet && html`<div><dt>Fleet</dt><dd>${repositoryLink(fleet.repository, fleet.commit)}</dd></div>`}
<div><dt>Evaluated</dt><dd>${when(at)}</dd></div>
${verdict && html`<div><dt>Revision set</dt><dd><code>${verdict.combination.slice(0, 12)}</code></dd></div>`}
</dl>`
}

function pullFacts(repository: string, pull: PagePull): Html {
  return html`<div><dt>Pull request</dt><dd>${pullLink(repository, pull)}</dd></div>
${authorFact(pull.author)}
<div><dt>Branch</dt><dd><code>${pull.head}</code> into <code>${pull.base}</code></dd></div>`
}

function pullLink(repository: string, { number, title }: Pick<PagePull, 'number' | 'title'>): Content {
  const name = `#${number}${title === '' ? '' : ` ${title}`}`
  return repository.startsWith('https://') ? html`<a href="${repository}/pull/${number}">${name}</a>` : name
}

function authorFact(author: string | undefined): Html {
  return html`<div><dt>Author</dt><dd>${author === undefined || author === '' ? 'unknown' : author}</dd></div>`
}

function commitFacts(repository: string, { branch, author, pulls, morePulls = 0 }: PageCommit, isGroup: boolean): Html {
  if (!isGroup)
    return html`<div><dt>Branch</dt><dd><code>${branch}</code></dd></div>
${authorFact(author)}`
  const items = pulls?.map(
    pull => html`<li>${pullLink(repository, pull)}${pull.author !== '' && ` by ${pull.author}`}</li>`,
  )
  return html`<div><dt>Merge group</dt><dd>into <code>${branch}</code></dd></div>
<div><dt>Pull requests in it</dt><dd>${items === undefined ? 'unknown: the group was no longer in the queue' : html`<ul class="plain">${items}${morePulls > 0 && html`<li>and ${morePulls} more</li>`}</ul>`}</dd></div>`
}

function contents(parts: readonly Part[]): Content {
  if (parts.length < 2) return undefined
  const items = parts.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)
  return html`<nav aria-label="On this page"><ul class="toc">${items}</ul></nav>`
}

function partsOf(page: CheckPage): Part[] {
  const { verdict, error } = page
  const { repository: here, commits, excerpts = [], fixes = [] } = page
  const links = { here, commits, excerpts, fixes }
  if (error) return [{ id: 'error', title: 'Nothing was evaluated', content: errorSection(error, links) }]
  if (!verdict)
    return [
      {
        id: 'untouched',
        title: 'Nothing to evaluate',
        content: html`<p>No Kustomization of a cluster reads this commit.</p>`,
      },
    ]
  return [...verdictParts(verdict, page, links), ...restParts(verdict, page, links)]
}

function verdictParts(verdict: Verdict, { left, changes, impact }: CheckPage, links: PageSources): Part[] {
  const violations = verdict.violations.filter(isNew)
  const warnings = verdict.warnings.filter(isNew)
  const errors = verdict.errors.filter(isNew)
  const matrix = matrixSection(verdict)
  return [
    ...part(errors.length, 'errors', `Could not be evaluated (${groupFailures(errors).length})`, () =>
      failureSection(errors, links),
    ),
    ...(impact ? part(1, 'policies', impact.heading, () => impactList(impact)) : []),
    ...part(violations.length, 'violations', `Violations (${groupFindings(violations).length})`, () => [
      findingsSection(violations, links),
      left.excerpts !== undefined &&
        html`<p class="dim">Source lines are shown for the first ${MAX_EXCERPTS} places.</p>`,
      leftLine(left.violations, 'violation'),
    ]),
    ...part(matrix ? 1 : 0, 'matrix', 'Clusters and tenants', () => matrix),
    ...(changes ? part(1, 'changes', 'What changes on the clusters', () => changesSection(changes)) : []),
    ...part(warnings.length, 'warnings', `Warnings (${groupFindings(warnings).length})`, () => [
      findingsSection(warnings, links),
      leftLine(left.warnings, 'warning'),
    ]),
  ]
}

function restParts(verdict: Verdict, { graph, left }: CheckPage, links: PageSources): Part[] {
  const standing = verdict.errors.filter(failure => !isNew(failure))
  const of = (state: string) => verdict.violations.filter(finding => finding.state === state)
  const older = [
    foldedFindings('Existing violations: they block only when they change', of('standing'), links),
    foldedFindings('Waived', of('waived'), links),
    foldedFindings('Fixed by this change', of('fixed'), links),
  ].filter(content => content !== undefined)
  return [
    ...part(older.length + standing.length, 'before', 'Existing findings', () => [
      older,
      standing.length > 0 && html`<h3>Existing evaluation errors</h3>${failureSection(standing, links)}`,
    ]),
    ...part(graph.length, 'graph', 'Evaluated Kustomizations', () => [
      graphSection(graph, verdict),
      leftLine(left.graph, 'Kustomization'),
    ]),
    ...part(verdict.notSeen.length, 'not-seen', `Not visible (${verdict.notSeen.length})`, () =>
      sourcesSection(verdict.notSeen),
    ),
    ...part(verdict.notEvaluated.length, 'not-evaluated', 'Not evaluated', () => notEvaluatedList(verdict)),
    ...part(verdict.notReached.length, 'not-reached', `Not reached (${verdict.notReached.length})`, () => [
      notReachedSection(verdict.notReached),
      leftLine(left.notReached, 'Kustomization'),
    ]),
  ]
}

/** How many kinds it lists. */
const MAX_KINDS = 50

function notEvaluatedList({ notEvaluated }: Verdict): Content {
  const groups = groupFindings(notEvaluated)
  const left = groups.length - MAX_KINDS
  return [
    html`<ul>
${groups.slice(0, MAX_KINDS).map(({ finding }) => html`<li>${prose(typedMessage(finding))}</li>`)}
</ul>`,
    left > 0 && html`<p class="dim">and ${left} more</p>`,
  ]
}

function part(number: number, id: string, title: string, content: () => Content): Part[] {
  return number > 0 ? [{ id, title, content: content() }] : []
}

function leftLine(left: number | undefined, noun: string): Content {
  if (left === undefined) return undefined
  return html`<p class="dim">and ${count(left, `more ${noun}`)}, not kept for this page: <code>bailiwick check</code> on the same commit lists all.</p>`
}

/** The effect of changed policies on existing objects, by policy and tenant. */
function impactList({ lines, left }: ImpactLines): Content {
  return [
    html`<p>The change leaves these objects as they are. A policy, or something that a policy reads, is different.</p>
<ul class="dots">
${lines.map(({ head, tenants }) => html`<li>${head}<ul class="dots">${tenants.map(line => html`<li>${line}</li>`)}</ul></li>`)}
</ul>`,
    left > 0 && html`<p class="dim">and ${left} more ${left === 1 ? 'policy' : 'policies'}</p>`,
  ]
}

/** Kustomizations that no cluster builds: nothing is known about what they would apply. */
function notReachedSection(list: readonly NotReached[]): Html {
  const rows = list.map(
    ({ id, origin, reason }) =>
      html`<tr><th scope="row">${id}</th><td><code>${placeOf(origin, origin.repository)}</code></td><td class="wide">${reason}</td></tr>
`,
  )
  return html`<div class="scroll" role="region" aria-label="Kustomizations that no cluster builds" tabindex="0"><table>
<caption>No cluster builds these Kustomizations, so what they would apply was not evaluated.</caption>
<thead><tr><th scope="col">Kustomization</th><th scope="col">File</th><th scope="col">Why</th></tr></thead>
<tbody>
${rows}</tbody>
</table></div>`
}
