import { typedMessage } from '../../base/message.ts'
import type { NotReached } from '../../fleet/model/fleet.ts'
import type { Verdict } from '../../rules/model/finding.ts'
import { groupFailures, groupFindings } from '../../verdict/summary.ts'
import { withParents } from '../formats/graph-text.ts'
import { type ImpactLines, policiesLeft } from '../policy-impact.ts'
import { decisionSentences } from '../text/decisions.ts'
import { count, isNew, limitsText } from '../text/findings.ts'
import { placeOf } from '../text/place.ts'
import { type CheckPage, type GraphNode, MAX_EXCERPTS, type PageCommit, type PagePull } from './check-page.ts'
import { changesSection, matrixSection } from './check-sections.ts'
import { errorSection, failureSection, findingsSection, foldedFindings, type PageSources } from './findings-section.ts'
import { sourcesSection } from './fleet-sections.ts'
import { type Content, type Html, html, prose, repositoryLink, table, when } from './html.ts'
import { contents, type Frame, icon, layout, type PagePart, section } from './layout.ts'

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
  return layout(frame, [banner(page), facts(page), contents(parts), parts.map(section)])
}

const LOOKS = {
  pass: { tone: 'good', picture: 'pass' },
  fail: { tone: 'bad', picture: 'fail' },
  error: { tone: 'warn', picture: 'unsure' },
} as const

function banner({ title, verdict, assumed, error, conclusion, hidden, about, decisions }: CheckPage): Html {
  const result = verdict?.result ?? (error ? 'error' : 'pass')
  const { tone, picture } = LOOKS[conclusion === 'success' ? 'pass' : result === 'error' ? 'error' : 'fail']
  const limits = verdict ? limitsText({ verdict, hidden }) : ''
  return html`<div class="verdict ${tone}">
${icon(picture)}
<div><h1>${title}</h1>
<p>${SAYS[conclusion][about]}</p>
${assumed !== undefined && html`<p>${assumed}</p>`}
${limits !== '' && html`<p>${limits}</p>`}
${decisions && decisionSentences(decisions).map(one => html`<p>${prose(one)}</p>`)}
</div>
</div>`
}

const SAYS = {
  success: {
    'pull-request': 'Checked as if merged. It does not block the merge.',
    branch: 'Checked as it is on the branch.',
    'merge-group': 'Checked as the merge queue would merge it. It does not block the merge.',
  },
  failure: {
    'pull-request': 'Checked as if merged. It blocks the merge.',
    'merge-group': 'Checked as the merge queue would merge it. It blocks the merge.',
    // whether a worker applies it or Flux is the fleet's choice, which a page of a check does not know
    branch: 'Checked as it is on the branch. The same findings block a pull request that causes them.',
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
${verdict && html`<div><dt>Revision set</dt><dd><code>${verdict.revisionSet.slice(0, 12)}</code></dd></div>`}
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

function partsOf(page: CheckPage): PagePart[] {
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

function verdictParts(verdict: Verdict, { left, changes, impact }: CheckPage, links: PageSources): PagePart[] {
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

function restParts(verdict: Verdict, { graph, left }: CheckPage, links: PageSources): PagePart[] {
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

function part(number: number, id: string, title: string, content: () => Content): PagePart[] {
  return number > 0 ? [{ id, title, content: content() }] : []
}

function leftLine(left: number | undefined, noun: string): Content {
  if (left === undefined) return undefined
  return html`<p class="dim">and ${count(left, `more ${noun}`)}, not kept for this page: <code>bailiwick check</code> on the same commit lists all.</p>`
}

/** The effect of changed policies on existing objects, by policy and tenant. */
function impactList(impact: ImpactLines): Content {
  return [
    html`<p>The change leaves these objects as they are. A policy, or something that a policy reads, is different.</p>
<ul class="dots">
${impact.lines.map(({ head, tenants }) => html`<li>${head}<ul class="dots">${tenants.map(line => html`<li>${line}</li>`)}</ul></li>`)}
</ul>`,
    impact.left > 0 && html`<p class="dim">${policiesLeft(impact)}</p>`,
  ]
}

/** Kustomizations that no cluster builds: nothing is known about what they would apply. */
function notReachedSection(list: readonly NotReached[]): Html {
  const rows = list.map(
    ({ id, origin, reason }) =>
      html`<tr><th scope="row">${id}</th><td><code>${placeOf(origin, origin.repository)}</code></td><td class="wide">${reason}</td></tr>`,
  )
  return table(
    'Kustomizations that no cluster builds',
    ['Kustomization', 'File', 'Why'],
    rows,
    'No cluster builds these Kustomizations, so what they would apply was not evaluated.',
  )
}

/** How many Kustomizations a page draws; the ones with something to say, and what brings them, are never left out first. */
const MAX_DRAWN = 400

/** The graph as nested lists: cluster, its Kustomizations with their sources, and what these bring. */
function graphSection(graph: readonly GraphNode[], verdict: Verdict): Content {
  const marks = marksOf(verdict)
  const drawn = withParents(graph, [...graph.filter(({ key }) => marks.has(key)), ...graph], MAX_DRAWN)
  const children = Map.groupBy(drawn, node => node.parent ?? `cluster ${node.cluster}`)
  const clusters = [...new Set(drawn.map(node => node.cluster))]
  const left = graph.length - drawn.length
  return [
    html`<div class="graph"><ul class="tree">
${clusters.map(
  cluster => html`<li><span class="cluster">${cluster}</span>${branch(`cluster ${cluster}`, children, marks)}</li>
`,
)}</ul></div>`,
    left > 0 && html`<p class="dim">and ${count(left, 'Kustomization')} more, of which there is nothing to say</p>`,
  ]
}

/** Which nodes are red, undecided or warned of. */
function marksOf({ violations, errors, warnings }: Verdict): ReadonlyMap<string, Html> {
  const marks = new Map<string, Html>()
  const put = (list: readonly { readonly node: string; readonly state: string }[], tone: string, noun: string) => {
    for (const [node, found] of Map.groupBy(list, one => one.node)) {
      const fresh = found.filter(one => isNew(one as { state: 'new' })).length
      if (fresh > 0) marks.set(node, html`<span class="tag ${tone}">${count(fresh, noun)}</span>`)
    }
  }
  put(warnings, 'warn', 'warning')
  put(violations, 'bad', 'violation')
  put(errors, 'warn', 'error')
  return marks
}

/** Deeper than any fleet that the engine walks; a hostile one must not exhaust the stack. */
const MAX_DEPTH = 40

function branch(
  key: string,
  children: ReadonlyMap<string, readonly GraphNode[]>,
  marks: ReadonlyMap<string, Html>,
  depth = 0,
): Content {
  const nodes = depth < MAX_DEPTH ? children.get(key) : undefined
  if (!nodes) return undefined
  return html`<ul>${nodes.map(
    node => html`<li>${leaf(node, marks.get(node.key))}${branch(node.key, children, marks, depth + 1)}</li>
`,
  )}</ul>`
}

function leaf({ namespace, name, tenant, source, objects, suspend }: GraphNode, mark: Html | undefined): Html {
  const from = source.notSeen === '' ? count(objects, 'object') : `not visible: ${source.notSeen}`
  return html`<code>${namespace}/${name}</code> <span class="tags">${tenant !== '' && html`<span class="tag">${tenant}</span>`}${mark}${suspend && html`<span class="tag none">suspended</span>`}</span><span class="from">${from} from ${repositoryLink(source.url, source.commit)}</span>`
}
