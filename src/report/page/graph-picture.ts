import { fileAddress, isAddress } from '../text/file-address.ts'
import type { FleetGraphNode } from './fleet-graph.ts'
import { queryAddress } from './fleet-query.ts'
import { type GraphBox, type GraphBoxes, graphBoxes } from './graph-boxes.ts'
import { type Content, type Html, html } from './html.ts'
import { type LayoutPoint, layeredLayout } from './layered-layout.ts'
import type { Links } from './links.ts'

const BOX = { width: 200, height: 46, right: 44, below: 20 }
const TOP = 44
const EDGE = 12
/** Colors for tenants; their names are in the boxes. */
const COLORS = 8
/** Characters that a line of a box holds. */
const MAX_CHARS = 27
/** A longer address is left out: a name of many kilobytes is not worth a link. */
const MAX_ADDRESS = 600

interface PictureOptions {
  /** How many boxes are drawn at most. */
  readonly limit: number
  /** Address of the page of the fleet. */
  readonly page: string
  /** In percent of its own size; undefined: as wide as its place. */
  readonly zoom?: number | undefined
  readonly links: Links
}

/**
 * The graph of a fleet as SVG: repositories, sources, Kustomizations by the depth at which they are applied, and namespaces,
 * from left to right. A box that has an address is a link. The same graph gives the same picture.
 */
export function graphPicture(nodes: readonly FleetGraphNode[], options: PictureOptions): Content {
  if (nodes.length === 0) return html`<p>No Kustomization is drawn.</p>`
  const drawn = graphBoxes(nodes, options.limit)
  const { isGrouped, left, layers } = drawn
  const boxes = layers.reduce((sum, one) => sum + one.boxes.length, 0)
  return [
    isGrouped &&
      html`<p class="dim">More than ${options.limit} boxes: Kustomizations are grouped by tenant and cluster. Filter by tenant to see each of them.${left > 0 && ` ${left.toLocaleString('en-US')} groups are not drawn; those with findings are drawn first.`}</p>`,
    html`<div class="scroll" role="region" aria-label="Picture of the graph" tabindex="0">${svg(drawn, nodes, boxes, options)}</div>`,
  ]
}

function svg(drawn: GraphBoxes, nodes: readonly FleetGraphNode[], boxes: number, options: PictureOptions): Html {
  const keys = drawn.layers.map(({ boxes }) => boxes.map(({ key }) => key))
  const layout = layeredLayout(keys, drawn.edges)
  const width = 2 * EDGE + layout.layers * (BOX.width + BOX.right) - BOX.right
  const height = Math.ceil(TOP + layout.rows * (BOX.height + BOX.below))
  const { zoom } = options
  const size = zoom === undefined ? html`width="100%"` : html`width="${Math.round((width * zoom) / 100)}"`
  const tenants = [...new Set(nodes.map(({ tenant }) => tenant))].filter(name => name !== '').sort()
  const own = new Set(drawn.edges.filter(({ isOwn }) => isOwn).map(({ from, to }) => `${from}\n${to}`))
  return html`<svg class="map${zoom === undefined && ' fit'}" role="group" aria-labelledby="map-title map-text" viewBox="0 0 ${width} ${height}" ${size}>
<title id="map-title">Graph of the fleet</title>
<desc id="map-text">${describe(drawn, boxes)}</desc>
${drawn.layers.map(({ heading }, layer) => html`<text class="col" x="${xOf(layer)}" y="20">${heading}</text>`)}
${layout.edges.map(({ edge, points }) => html`<path${own.has(`${edge.from}\n${edge.to}`) && html` class="own"`} d="${pathOf(points)}"/>`)}
${drawn.layers.map(({ boxes }) => boxes.map(box => boxShape(box, layout.places.get(box.key), tenants, options)))}
</svg>`
}

function describe({ layers, isGrouped }: GraphBoxes, boxes: number): string {
  const parts = layers.map(({ heading, boxes }) => `${boxes.length} ${heading.toLowerCase()}`).join(', ')
  const what = isGrouped
    ? 'Repositories to tenants to clusters'
    : 'Repositories to sources to Kustomizations to namespaces'
  return `${what}, from left to right: ${boxes} boxes, of these ${parts}. The table below lists the same Kustomizations.`
}

const xOf = (layer: number): number => EDGE + layer * (BOX.width + BOX.right)
const yOf = (row: number): number => Math.round(TOP + row * (BOX.height + BOX.below))

/** Out of a box on the right, straight through the places of a long edge, into the next one on the left. */
function pathOf(points: readonly LayoutPoint[]): string {
  return points
    .map(({ layer, row }, at) => {
      const [x, y] = [xOf(layer), yOf(row) + BOX.height / 2]
      const isLast = at === points.length - 1
      if (at === 0) return `M${x + BOX.width} ${y}`
      const [fromX, fromY] = [xOf(layer - 1) + BOX.width, yOf(points[at - 1]?.row ?? row) + BOX.height / 2]
      const bend = BOX.right / 2
      return `C${fromX + bend} ${fromY} ${x - bend} ${y} ${x} ${y}${isLast ? '' : `H${x + BOX.width}`}`
    })
    .join('')
}

function boxShape(
  box: GraphBox,
  place: LayoutPoint | undefined,
  tenants: readonly string[],
  options: PictureOptions,
): Content {
  if (!place) return undefined
  const [x, y] = [xOf(place.layer), yOf(place.row)]
  const color = box.tenant === undefined || box.tenant === '' ? '' : ` k${tenants.indexOf(box.tenant) % COLORS}`
  const [first, second] = box.lines
  const shape = html`<title>${box.title}</title><rect x="${x}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="7"/><rect class="bar" x="${x}" y="${y + 7}" width="4" height="${BOX.height - 14}"/><text x="${x + 13}" y="${y + 19}">${fitted(first)}</text><text class="sub" x="${x + 13}" y="${y + 36}">${fitted(second)}</text>${markShape(box, x, y)}`
  const address = addressOf(box, options)
  return html`<g class="box${color}${box.isDashed === true && ' dash'}">${address === undefined || address.length > MAX_ADDRESS ? shape : html`<a href="${address}">${shape}</a>`}</g>
`
}

function markShape({ mark }: GraphBox, x: number, y: number): Content {
  if (mark === '') return undefined
  const width = 16 + mark.length * 6.5
  const left = Math.round(x + BOX.width - width - 8)
  return html`<rect class="mark" x="${left}" y="${y - 12}" width="${Math.round(width)}" height="17" rx="8"/><text class="found" x="${left + 8}" y="${y + 1}">${mark}</text>`
}

/** As much of a text as a box holds; wide letters count twice. */
function fitted(text: string): string {
  let room = MAX_CHARS
  let end = 0
  for (const letter of text) {
    room -= (letter.codePointAt(0) ?? 0) >= 0x2e80 ? 2 : 1
    if (room < 0) return `${text.slice(0, end)}…`
    end += letter.length
  }
  return text
}

function addressOf(
  { node, repository, namespace, tenant, key }: GraphBox,
  { page, links }: PictureOptions,
): string | undefined {
  if (node) {
    const { declared } = node
    if (!declared) return undefined
    const url = declared.repository === '' ? links.here : declared.repository
    const commit = Object.hasOwn(links.commits, url) ? links.commits[url] : undefined
    return commit === undefined ? undefined : fileAddress(url, commit, declared.file, declared.line)
  }
  if (namespace !== undefined) return `${page}${queryAddress({ namespace: namespace.toWellFormed() }, 'access')}`
  if (key.startsWith('g ') && tenant !== undefined && tenant !== '')
    return `${page}/graph${queryAddress({ tenant: tenant.toWellFormed() })}`
  if (!repository || !isAddress(repository.url)) return undefined
  const { url, commit } = repository
  return commit === '' ? url : `${url}/commit/${encodeURIComponent(commit)}`
}
