import type { Verdict } from '../../rules/model/finding.ts'
import { count, isNew } from '../text/headline.ts'
import type { GraphNode } from './check-page.ts'
import { type Content, type Html, html } from './html.ts'
import { repositoryLink } from './links.ts'

/** How many Kustomizations a page draws; the ones with something to say, and what brings them, are never left out first. */
const MAX_DRAWN = 400

/** The graph as nested lists: cluster, its Kustomizations with their sources, and what these bring. */
export function graphSection(graph: readonly GraphNode[], verdict: Verdict): Content {
  const marks = marksOf(verdict)
  const drawn = chosen(graph, marks)
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

function chosen(graph: readonly GraphNode[], marks: ReadonlyMap<string, Html>): readonly GraphNode[] {
  if (graph.length <= MAX_DRAWN) return graph
  const byKey = new Map(graph.map(node => [node.key, node]))
  const keep = new Set<string>()
  for (const node of [...graph.filter(({ key }) => marks.has(key)), ...graph]) {
    if (keep.size >= MAX_DRAWN) break
    for (let at: GraphNode | undefined = node; at && !keep.has(at.key); at = byKey.get(at.parent ?? ''))
      keep.add(at.key)
  }
  return graph.filter(({ key }) => keep.has(key))
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
