import { visible } from '../../base/visible.ts'
import { type FleetNode, whyIncomplete } from '../../fleet/model/fleet.ts'
import { shortUrl } from '../text/place.ts'

interface Drawing {
  readonly nodes: readonly FleetNode[]
  /** Node ids in the drawing; they contain no text from a repository. */
  readonly idOf: ReadonlyMap<string, string>
  readonly sources: ReadonlyMap<string, readonly FleetNode[]>
}

/** Draws the graph of a fleet for Mermaid: edges from sources to Kustomizations, and from Kustomizations to the ones that they apply. Repository text appears only in labels. */
export function graphText(nodes: readonly FleetNode[]): string {
  const idOf = new Map(nodes.map((node, index) => [node.key, `n${index}`]))
  const drawing = { nodes, idOf, sources: Map.groupBy(nodes, sourceName) }
  return `${mermaid(drawing).join('\n')}\n`
}

function sourceName({ source }: FleetNode): string {
  const ref = source.ref.branch ?? source.ref.tag ?? source.ref.semver ?? source.ref.commit
  return `${shortUrl(source.url) || source.id}${ref === undefined ? '' : ` ${ref}`}${source.opaque === undefined ? '' : ' (not visible)'}`
}

function labelOf({ namespace, name, tenant, identity, objects, suspend }: FleetNode): string[] {
  return [
    `${namespace}/${name}`,
    tenant === undefined ? 'platform' : `tenant ${tenant}`,
    identity.user,
    `${objects.length} objects${suspend ? ', suspended' : ''}`,
  ].map(line => visible(line, 120))
}

type Look = 'failed' | 'dashed' | 'tenant' | 'platform'

function lookOf(node: FleetNode): Look {
  if (whyIncomplete(node)) return 'failed'
  if (node.suspend || node.source.opaque !== undefined) return 'dashed'
  return node.tenant === undefined ? 'platform' : 'tenant'
}

const MERMAID_LOOKS: Readonly<Record<Look, string>> = {
  failed: 'stroke:#cf222e,stroke-width:2px',
  dashed: 'stroke-dasharray:4 3',
  tenant: 'stroke:#0969da',
  platform: 'stroke:#57606a',
}

/** Escapes every special character, so that a label cannot end its quotes, open a tag or start a directive. An empty one does not parse. */
const mermaidText = (text: string) => text.replace(/[^A-Za-z0-9 ./()-]/gu, entity) || ' '

/** What begins a formula (`$$`) or an icon (`fa:fa-x`) in the HTML of a box, however it was escaped: a word joiner, which has no width, parts it. */
const PARTED = /\$(?=\$)|(?<=fa[a-z]?):(?=fa-)/g

/**
 * Mermaid reads the label of a box as Markdown after it decoded entities: punctuation gets a backslash where it means something there (a
 * leading `1.` or `-` begins a list).
 */
const boxText = (text: string) =>
  text
    .replace(PARTED, '$&\u2060')
    .replace(/(?<=^\d+)[.)]|^-|[^A-Za-z0-9 ./()-]/gu, char =>
      /[!-~]/.test(char) ? `#92;${entity(char)}` : entity(char),
    ) || ' '

const entity = (char: string) => `#${char.codePointAt(0)};`

function mermaid({ nodes, idOf, sources }: Drawing): string[] {
  const clusters = [...Map.groupBy(nodes, ({ cluster }) => cluster)]
  return [
    'flowchart LR',
    ...[...sources.keys()].map((name, index) => `  s${index}[("${boxText(visible(name, 160))}")]`),
    ...clusters.flatMap(([cluster, own], index) => [
      `  subgraph c${index}["${mermaidText(visible(cluster, 100))}"]`,
      ...own.map(node => `    ${idOf.get(node.key)}["${labelOf(node).map(boxText).join('<br>')}"]:::${lookOf(node)}`),
      '  end',
    ]),
    ...[...sources.values()].flatMap((own, index) => own.map(node => `  s${index} --> ${idOf.get(node.key)}`)),
    ...edges(nodes, idOf).map(([from, to]) => `  ${from} ==> ${to}`),
    ...Object.entries(MERMAID_LOOKS).map(([name, style]) => `  classDef ${name} ${style}`),
  ]
}

/** The edges between Kustomizations. */
function edges(nodes: readonly FleetNode[], idOf: ReadonlyMap<string, string>): (readonly [string, string])[] {
  return nodes.flatMap(({ key, parent }) => {
    const [from, to] = [parent === undefined ? undefined : idOf.get(parent), idOf.get(key)]
    return from === undefined || to === undefined ? [] : [[from, to] as const]
  })
}

/** Of a graph the wanted nodes with all that bring them, in its own order; no further one where there are `most`. */
export function withParents<T extends { readonly key: string; readonly parent?: string | null }>(
  graph: readonly T[],
  wanted: Iterable<T>,
  most = graph.length,
): T[] {
  const byKey = new Map(graph.map(node => [node.key, node]))
  const kept = new Set<string>()
  for (const node of wanted) {
    if (kept.size >= most) break
    for (let at: T | undefined = node; at && !kept.has(at.key); at = byKey.get(at.parent ?? '')) kept.add(at.key)
  }
  return graph.filter(({ key }) => kept.has(key))
}
