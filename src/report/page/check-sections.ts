import { visible } from '../../base/visible.ts'
import { display } from '../../kube/object.ts'
import type { Verdict } from '../../rules/model/finding.ts'
import {
  type Changes,
  type Counts,
  idBefore,
  isUnchanged,
  type NodeChange,
  type ObjectChange,
} from '../../verdict/diff/changes.ts'
import { countsText, fieldLines, rightLines, whatHappens } from '../changes.ts'
import { matrixOf, type StateCounts } from '../matrix.ts'
import { count } from '../text/findings.ts'
import { type Content, type Html, html, table } from './html.ts'

/** The table tenant x cluster; undefined where there is nothing to tabulate. */
export function matrixSection(verdict: Verdict): Html | undefined {
  const matrix = matrixOf(verdict, { tenants: 200, clusters: 30 })
  if (!matrix) return undefined
  const { clusters, rows, left } = matrix
  const more = [
    ...(left.tenants > 0 ? [`${left.tenants} more tenants`] : []),
    ...(left.clusters > 0 ? [`${left.clusters} more clusters`] : []),
  ].join(' and ')
  const lines = rows.map(({ tenant, cells }) => {
    const row = cells.map(
      cell => html`<td class="cell">${cell ? cellText(cell) : html`<span class="dim">not there</span>`}</td>`,
    )
    return html`<tr><th scope="row">${tenant === '' ? 'the platform' : tenant}</th>${row}</tr>`
  })
  return html`${table('Table of clusters and tenants', ['Tenant', ...clusters], lines)}
${more !== '' && html`<p class="dim">and ${more}, with the fewest findings</p>`}`
}

function cellText({ errors, violations, existing, warnings }: StateCounts): Html {
  if (errors > 0) return html`<span class="tag warn">? not evaluated</span>`
  if (violations > 0) return html`<span class="tag bad">✗ ${violations}</span>`
  const notes = [
    ...(existing > 0 ? [`${existing} existing`] : []),
    ...(warnings > 0 ? [count(warnings, 'warning')] : []),
  ].join(', ')
  if (notes === '') return html`<span class="tag good">✓ clean</span>`
  return html`<span class="tag good">✓</span> <span class="dim small">${notes}</span>`
}

/** How many objects a page writes out. */
const MAX_OBJECTS = 300

/** What a change does to what the clusters get: what is deleted and who may do more first, then each object. */
export function changesSection(changes: Changes): Content {
  const { nodes, rights, tenants, clusters, hidden, left } = changes
  if (isUnchanged(changes)) return html`<p>No rendered changes.</p>${hiddenLine(hidden)}`
  const pruned = nodes.flatMap(node =>
    node.objects.filter(({ fate }) => fate === 'deleted').map(object => ({ node, object })),
  )
  let room = MAX_OBJECTS
  const blocks = nodes.map(node => {
    const block = nodeBlock(node, room, nodes.length > 1)
    room -= Math.min(room, node.objects.length)
    return block
  })
  return [
    html`<p>${countsLine(changes.totals)}</p>${hiddenLine(hidden)}`,
    clusters.map(({ name, change }) => html`<p>Cluster <strong>${name}</strong> is ${change}.</p>`),
    tenants.map(
      ({ name, change, namespaces, left: besides }) =>
        html`<p>Tenant <strong>${name}</strong> is ${change}${namespaces.length > 0 && `, with ${namespaces.join(', ')}${besides.namespaces > 0 ? ` and ${besides.namespaces} more` : ''}`}.</p>`,
    ),
    pruned.length > 0 &&
      html`<div class="quote bad"><h3>Flux deletes ${count(pruned.length, 'object')}</h3><ul class="dots">${pruned.slice(0, 100).map(({ node, object }) => html`<li><code>${display(idBefore(object))}</code> on ${node.cluster}</li>`)}</ul></div>`,
    rights.length > 0 &&
      html`<h3>Permission changes</h3><ul class="dots">${rightLines(rights, ALL_RIGHTS).map(line => html`<li>${quoted(line)}</li>`)}</ul>`,
    blocks,
    left.tenants + left.clusters > 0 &&
      html`<p class="dim">${count(left.tenants, 'tenant')} and ${count(left.clusters, 'cluster')} more are new or removed.</p>`,
    left.nodes + left.objects + left.fields + left.rights > 0 &&
      html`<p class="dim">More changes than a page holds: ${count(left.nodes, 'Kustomization')}, ${count(left.objects, 'object')}, ${count(left.fields, 'field')} and ${count(left.rights, 'right')} are not listed.</p>`,
  ]
}

/** A name stands between two characters that `visible` leaves in no text, so that nothing in it ends its place. */
const ALL_RIGHTS = { quote: (name: string, max?: number) => `\0${visible(name, max)}\0`, isWhole: true }
const quoted = (line: string): Content =>
  line.split('\0').map((text, at) => (at % 2 === 1 ? html`<code>${text}</code>` : text))

function hiddenLine(hidden: number): Content {
  return (
    hidden > 0 &&
    html`<p class="dim">${count(hidden, 'Kustomization')} of others ${hidden === 1 ? 'changes' : 'change'}, too.</p>`
  )
}

function countsLine(counts: Counts): string {
  const text = countsText(counts)
  return text === '' ? 'No object differs.' : `Objects: ${text}.`
}

function nodeBlock(node: NodeChange, room: number, counted: boolean): Html {
  const { cluster, namespace, name, tenant, change, unknown, suspended, identity, counts, objects, images } = node
  const shown = objects.slice(0, room)
  return html`<details class="more"${room >= MAX_OBJECTS && html` open`}><summary>${cluster}: ${namespace}/${name} <span class="tags">${tenant !== '' && html`<span class="tag">${tenant}</span>`}<span class="tag">${change}</span>${suspended && html`<span class="tag none">suspended</span>`}</span></summary>
${counted && html`<p class="dim small">${countsLine(counts)}</p>`}${unknown && html`<p>What it is ${unknown} the change cannot be rendered.</p>`}
${identity && html`<p>Applied as <code>${identity.now}</code> in place of <code>${identity.was}</code>.</p>`}
${images.length > 0 && html`<ul class="dots">${images.map(({ was, now }) => html`<li>image <code>${was}</code> becomes <code>${now}</code></li>`)}</ul>`}
${shown.map(objectBlock)}${objects.length > shown.length && html`<p class="dim">and ${count(objects.length - shown.length, 'object')} more</p>`}
</details>
`
}

const TONES = { added: 'good', changed: 'warn', removed: 'bad', replaced: 'bad', moved: 'none' } as const

function objectBlock(object: ObjectChange): Html {
  const { id, change, fields, fieldCount } = object
  const what = whatHappens(object)
  const lines = fields.flatMap(field => fieldLines(field, 'full'))
  return html`<h3 class="rule"><code>${display(id)}</code> <span class="tag ${TONES[change]}">${change}</span>${what !== change && html` <span class="dim small">${what}</span>`}</h3>
${lines.length > 0 && html`<pre class="diff" tabindex="0" aria-label="Changed fields of ${display(id)}">${lines.map(line => html`<span${tone(line)}>${line}</span>`)}</pre>`}
${fieldCount > fields.length && html`<p class="dim small">and ${count(fieldCount - fields.length, 'field')} more</p>`}
`
}

function tone(line: string): Content {
  return line.startsWith('+') ? html` class="add"` : line.startsWith('-') && html` class="del"`
}
