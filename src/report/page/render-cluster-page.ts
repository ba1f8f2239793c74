import { display } from '../../kube/object.ts'
import type { ClusterPage, NodePhase, NodeState } from '../cluster-page.ts'
import { type Content, type Html, html, paged, placeLink, repositoryLink, table, when } from './html.ts'
import { type Frame, layout, tiles } from './layout.ts'

interface ClusterLook {
  readonly reader?: Frame['reader']
  /** Which part of the list, from 1. */
  readonly page: number
}

/** How many Kustomizations are on one part of the list. */
const PER_PAGE = 100

/** What needs attention comes first. */
const PHASES: readonly NodePhase[] = ['failed', 'held', 'pending', 'waiting', 'applied']

/** The page of a cluster as HTML. */
export function renderClusterPage(shown: ClusterPage, { reader, page }: ClusterLook): string {
  const { owner, repo, repository, cluster, at, nodes, drift, isRunning, problem } = shown
  const name = `${owner}/${repo}`
  const state = isRunning ? 'the worker is applying' : 'the last run has ended'
  return layout(
    {
      title: `Cluster ${cluster}`,
      crumbs: [{ text: name, href: repository }, { text: `cluster ${cluster}` }],
      reader,
    },
    [
      html`<h1 class="page">Cluster ${cluster}</h1>
<p class="dim">Kustomizations of ${name} on this cluster, ${when(at)}: ${state}</p>
${problem !== undefined && html`<p><span class="tag bad">✗ not applied</span> ${problem}</p>`}
${tiles(PHASES.map(phase => [phase, nodes.filter(one => one.phase === phase).length]))}
`,
      html`<section aria-labelledby="nodes"><h2 id="nodes">Kustomizations (${nodes.length})</h2>
${nodeTable(shown, page)}
</section>
`,
      html`<section aria-labelledby="drift"><h2 id="drift">Corrected drift (${drift.length})</h2>
${driftTable(drift)}
</section>
`,
    ],
  )
}

function nodeTable({ nodes, repository }: ClusterPage, wanted: number): Content {
  if (nodes.length === 0) return html`<p>This repository has no Kustomization on this cluster.</p>`
  const sorted = [...nodes].sort((a, b) => PHASES.indexOf(a.phase) - PHASES.indexOf(b.phase))
  const { shown, pager } = paged(sorted, wanted, PER_PAGE, part => `?page=${part}#nodes`)
  const titles = ['State', 'Kustomization', 'Commit', 'Last applied', 'Next attempt', 'Objects']
  const rows = shown.map(one => nodeRow(one, repository))
  return [html`${table('Kustomizations', titles, rows)}\n`, pager]
}

function driftTable(drift: ClusterPage['drift']): Content {
  if (drift.length === 0) return html`<p>None.</p>`
  const rows = drift.map(({ node, object, change, fields, managers, count, last }) => {
    const what = change === 'deleted' ? 'deleted' : fields.length === 0 ? 'owner of fields' : fields.join(', ')
    return html`<tr><td class="wide"><code>${display(object)}</code><div class="dim small">${node}</div></td><td class="wide">${what}</td><td class="wide">${managers.length === 0 ? 'unknown' : managers.join(', ')}</td><td class="num">${count}</td><td class="cell">${when(last)}</td></tr>`
  })
  const titles = ['Object', 'Changed', 'Changed by', 'Times', 'Last corrected']
  return html`${table('Corrected drift', titles, rows)}\n`
}

function nodeRow(one: NodeState, here: string): Html {
  const { key, user, reason, repository, commit, appliedAt, retryAt, place, counts, objects } = one
  const links = { here, commits: { [repository]: commit } }
  const done = Object.entries(counts).map(([action, number]) => `${number} ${action}`)
  return html`<tr><td class="cell">${mark(one.phase)}</td><th scope="row" class="wide">${key}${place && html` ${placeLink(links, place)}`}
<div class="dim small">${user}</div>${reason !== undefined && html`<div>${reason}</div>`}</th><td class="cell">${repositoryLink(repository, commit)}</td><td class="cell">${appliedAt === undefined ? '' : when(appliedAt)}</td><td class="cell">${retryAt === undefined ? '' : when(retryAt)}</td><td class="wide">${done.join(', ')}${objectList(objects, links)}</td></tr>`
}

function objectList(objects: NodeState['objects'], links: Parameters<typeof placeLink>[0]): Content {
  if (objects.length === 0) return undefined
  const items = objects.map(
    ({ action, object, message, place, fields = [] }) =>
      html`<li>${action} <code>${display(object)}</code>${place && html` ${placeLink(links, place)}`}${message !== undefined && html`: ${message}`}${fields.map(one => one.place && html`<div><code>${one.field}</code> ${placeLink(links, one.place)}</div>`)}</li>`,
  )
  return html`<ul class="plain small">${items}</ul>`
}

function mark(phase: NodePhase): Html {
  if (phase === 'applied') return html`<span class="tag good">✓ applied</span>`
  if (phase === 'failed' || phase === 'held') return html`<span class="tag bad">✗ ${phase}</span>`
  return html`<span class="tag">${phase}</span>`
}
