import { visible } from '../../base/visible.ts'
import { fileAddress, isAddress, shortUrl } from '../text/place.ts'
import type { FleetGraphNode } from './fleet-page.ts'
import { queryAddress } from './fleet-query.ts'
import { type Content, type Html, html, type Links } from './html.ts'
import { type LayeredEdge, type LayoutPoint, layeredLayout } from './layered-layout.ts'

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

/** A box of the picture of a graph. */
interface GraphBox {
  readonly key: string
  /** Its two lines. */
  readonly lines: readonly [string, string]
  /** What it is, in full. */
  readonly title: string
  /** Undefined for what belongs to no one tenant; '' for the platform. */
  readonly tenant?: string
  readonly node?: FleetGraphNode
  /** A repository, at the commit that was evaluated. */
  readonly repository?: { readonly url: string; readonly commit: string }
  readonly namespace?: string
  /** Not visible, or suspended. */
  readonly isDashed?: boolean
  /** `2 open`, `1 error`; '' for nothing. */
  readonly mark: string
}

/** What a picture shows: boxes by layer with the heading of each, and edges. */
interface GraphBoxes {
  readonly layers: readonly { readonly heading: string; readonly boxes: readonly GraphBox[] }[]
  /** `isOwn`: from a Kustomization to one that it applies. */
  readonly edges: readonly (LayeredEdge & { readonly isOwn?: true })[]
  /** Kustomizations are grouped by tenant, because there are too many. */
  readonly isGrouped: boolean
  /** Groups that are not drawn. */
  readonly left: number
}

/** A Kustomization with more target namespaces has one box for them. */
const MAX_TARGETS = 6
/** Deeper ones share a layer; a fleet that goes round ends here. */
const MAX_DEPTH = 8

/** The boxes of a graph, at most `limit`: repositories, sources, Kustomizations, namespaces; above it, half as many of tenants. */
function graphBoxes(nodes: readonly FleetGraphNode[], limit: number): GraphBoxes {
  const grouped = Math.ceil(limit / 2)
  // each has a box of its own: a fleet of thousands is not drawn whole to be counted
  if (nodes.length > limit) return groupedBoxes(nodes, grouped)
  const whole = wholeBoxes(nodes)
  const count = whole.layers.reduce((sum, { boxes }) => sum + boxes.length, 0)
  return count <= limit ? whole : groupedBoxes(nodes, grouped)
}

function wholeBoxes(nodes: readonly FleetGraphNode[]): GraphBoxes {
  const depths = depthsOf(nodes)
  const deepest = Math.max(0, ...depths.values())
  const layers = Array.from({ length: deepest + 4 }, () => new Map<string, GraphBox>())
  const edges = new Map<string, LayeredEdge & { isOwn?: true }>()
  const put = (layer: number, box: GraphBox) => layers[layer]?.set(box.key, layers[layer]?.get(box.key) ?? box)
  const join = (from: string, to: string, isOwn = false) =>
    edges.set(`${from}\n${to}`, { from, to, ...(isOwn ? { isOwn: true as const } : {}) })
  const keys = new Set(nodes.map(({ key }) => key))
  for (const node of nodes) {
    const [repository, source, key] = [repositoryBox(node), sourceBox(node), `k ${node.key}`]
    put(0, repository)
    put(1, source)
    join(repository.key, source.key)
    put(2 + (depths.get(node.key) ?? 0), nodeBox(node))
    join(source.key, key)
    if (node.parent !== null && keys.has(node.parent)) join(`k ${node.parent}`, key, true)
    for (const target of targetBoxes(node)) {
      put(deepest + 3, target)
      join(key, target.key)
    }
  }
  const headings = ['Repositories', 'Sources', 'Kustomizations', ...Array<string>(deepest).fill('applied by these')]
  return {
    layers: layers.map((boxes, at) => ({ heading: headings[at] ?? 'Namespaces', boxes: [...boxes.values()] })),
    edges: [...edges.values()],
    ...{ isGrouped: false, left: 0 },
  }
}

function depthsOf(nodes: readonly FleetGraphNode[]): ReadonlyMap<string, number> {
  const parents = new Map(nodes.map(({ key, parent }) => [key, parent]))
  return new Map(
    nodes.map(({ key }) => {
      let depth = 0
      for (let at = parents.get(key); at && parents.has(at) && depth < MAX_DEPTH; at = parents.get(at)) depth += 1
      return [key, depth]
    }),
  )
}

const named = (text: string) => visible(text, 200)
const plural = (number: number, noun: string) => `${number.toLocaleString('en-US')} ${noun}${number === 1 ? '' : 's'}`
const nameOf = (url: string) => shortUrl(url).replace(/^github\.com\/(?=[^/]+\/[^/]+$)/, '')

function repositoryBox({ source }: FleetGraphNode): GraphBox {
  const name = nameOf(source.url) || 'no address'
  const note = source.notSeen === '' ? 'repository' : 'not visible'
  return {
    ...{ key: `r ${source.url}`, lines: [name, note], title: named(`Repository ${name}, ${note}`), mark: '' },
    ...{ repository: { url: source.url, commit: '' }, isDashed: source.notSeen !== '' },
  }
}

function sourceBox({ cluster, source }: FleetGraphNode): GraphBox {
  const [kind = '', ...name] = source.id.split('/')
  const at = source.commit === '' ? '' : ` at ${source.commit.slice(0, 7)}`
  const title = `${kind} ${name.join('/')} on ${cluster}${at}${source.notSeen === '' ? '' : `, not visible: ${source.notSeen}`}`
  return {
    ...{ key: `s ${cluster} ${source.id} ${source.url}`, lines: [name.join('/'), `${kind} on ${cluster}`] },
    ...{ title: named(title), repository: source, isDashed: source.notSeen !== '', mark: '' },
  }
}

function nodeBox(node: FleetGraphNode): GraphBox {
  const { key, cluster, namespace, name, tenant, objects, suspend } = node
  const whose = tenant === '' ? 'platform' : `tenant ${tenant}`
  const what = `${plural(objects, 'object')}${suspend ? ', suspended' : ''}`
  const mark = markOf([node])
  return {
    ...{ key: `k ${key}`, lines: [`${namespace}/${name}`, `${whose}, ${what}`], tenant, node, mark },
    title: named(
      `Kustomization ${namespace}/${name} on ${cluster}, ${whose}, ${what}${mark === '' ? '' : `, ${mark}`}`,
    ),
    isDashed: suspend || node.source.notSeen !== '',
  }
}

function targetBoxes({ key, cluster, namespaces = [], moreNamespaces = 0 }: FleetGraphNode): GraphBox[] {
  const number = namespaces.length + moreNamespaces
  if (number > MAX_TARGETS) {
    const title = `${number} namespaces on ${cluster}: ${namespaces.filter(name => name !== '').join(', ')}`
    const lines = [plural(number, 'namespace'), `on ${cluster}`] as const
    return [{ key: `m ${key}`, lines, title: named(title), mark: '' }]
  }
  return namespaces.map(namespace =>
    namespace === ''
      ? {
          ...{ key: `c ${cluster}`, lines: [cluster, 'cluster-scoped objects'], mark: '' },
          title: named(`Cluster ${cluster}: objects without a namespace`),
        }
      : {
          ...{ key: `n ${cluster} ${namespace}`, lines: [namespace, `namespace on ${cluster}`], namespace, mark: '' },
          title: named(`Namespace ${namespace} on ${cluster}`),
        },
  )
}

function markOf(nodes: readonly FleetGraphNode[]): string {
  const sum = (numbers: readonly (number | undefined)[]) => numbers.reduce<number>((all, one = 0) => all + one, 0)
  const [open, failed] = [sum(nodes.map(one => one.open)), sum(nodes.map(one => one.failed))]
  return [...(open > 0 ? [`${open} open`] : []), ...(failed > 0 ? [plural(failed, 'error')] : [])].join(', ')
}

/** Tenants on their clusters: those with findings first, then by name, as many as may be drawn. */
function groupedBoxes(nodes: readonly FleetGraphNode[], limit: number): GraphBoxes {
  const groups = [...Map.groupBy(nodes, ({ cluster, tenant }) => `${cluster}\n${tenant}`)].map(([key, own]) => ({
    ...{ key, own, weight: own.filter(one => (one.open ?? 0) + (one.failed ?? 0) > 0).length },
  }))
  groups.sort((a, b) => b.weight - a.weight || (a.key < b.key ? -1 : 1))
  const repositories = new Map<string, GraphBox>()
  const tenants: GraphBox[] = []
  const clusters = new Map<string, GraphBox>()
  const edges: LayeredEdge[] = []
  for (const { key, own } of groups) {
    const [box, source] = [tenantBox(key, own), sharedSource(key, own)]
    const { cluster = '' } = own[0] ?? {}
    const end = {
      key: `c ${cluster}`,
      lines: [cluster, 'cluster'],
      title: named(`Cluster ${cluster}`),
      mark: '',
    } as const
    const added = 1 + (repositories.has(source.key) ? 0 : 1) + (clusters.has(end.key) ? 0 : 1)
    if (repositories.size + tenants.length + clusters.size + added > limit) break
    repositories.set(source.key, source)
    tenants.push(box)
    clusters.set(end.key, end)
    edges.push({ from: source.key, to: box.key }, { from: box.key, to: end.key })
  }
  const layers = [
    { heading: 'Repositories', boxes: [...repositories.values()] },
    { heading: 'Tenants', boxes: tenants },
    { heading: 'Clusters', boxes: [...clusters.values()] },
  ]
  return { layers, edges, isGrouped: true, left: groups.length - tenants.length }
}

function tenantBox(key: string, own: readonly FleetGraphNode[]): GraphBox {
  const { cluster = '', tenant = '' } = own[0] ?? {}
  const objects = own.reduce((sum, one) => sum + one.objects, 0)
  const what = `${plural(own.length, 'Kustomization')}, ${plural(objects, 'object')}`
  const mark = markOf(own)
  const name = tenant === '' ? 'platform' : tenant
  return {
    ...{ key: `g ${key}`, lines: [name, what], tenant, mark },
    title: named(
      `${tenant === '' ? 'Platform' : `Tenant ${tenant}`} on ${cluster}: ${what}${mark === '' ? '' : `, ${mark}`}`,
    ),
  }
}

/** The repository of all these, or one box for several. */
function sharedSource(group: string, own: readonly FleetGraphNode[]): GraphBox {
  const boxes = new Map(own.map(repositoryBox).map(box => [box.key, box]))
  const [first, more] = [...boxes.values()]
  if (first && !more) return first
  const title = [...boxes.values()].map(({ lines }) => lines[0]).join(', ')
  return {
    key: `r ${group}`,
    lines: [plural(boxes.size, 'repository').replace(/ys$/, 'ies'), ''],
    title: named(title),
    mark: '',
  }
}
