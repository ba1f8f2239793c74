import { visible } from '../../message/visible.ts'
import { shortUrl } from '../text/place.ts'
import type { FleetGraphNode } from './fleet-graph.ts'
import type { LayeredEdge } from './layered-layout.ts'

/** A box of the picture of a graph. */
export interface GraphBox {
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
export interface GraphBoxes {
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
export function graphBoxes(nodes: readonly FleetGraphNode[], limit: number): GraphBoxes {
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
