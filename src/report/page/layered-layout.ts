/** An edge of a layered graph, from a node to one of a later layer. */
export interface LayeredEdge {
  readonly from: string
  readonly to: string
}

/** A point of a layout, in rows and layers. */
export interface LayoutPoint {
  readonly layer: number
  readonly row: number
}

/** The position of each node, and the points of each edge, both ends included. */
interface LayeredLayout {
  readonly places: ReadonlyMap<string, LayoutPoint>
  readonly edges: readonly { readonly edge: LayeredEdge; readonly points: readonly LayoutPoint[] }[]
  readonly layers: number
  readonly rows: number
}

/** How often the order of each layer is improved. Further rounds changed little in fleets of a hundred nodes. */
const ROUNDS = 6
/** How often rows move towards their neighbors. */
const PULLS = 8
/** Height of the place of a long edge, in rows. */
const PASSAGE = 0.35

/**
 * Lays a graph out in layers, as Sugiyama, Tagawa and Toda do (1981): long edges pass through a place of their own in each
 * layer, the order within a layer follows the mean of the neighbors, and rows move towards them. `layers`: the keys of
 * each layer in their first order. Edges that do not lead to a later layer are left out. The same graph gives the same
 * layout.
 */
export function layeredLayout(layers: readonly (readonly string[])[], edges: readonly LayeredEdge[]): LayeredLayout {
  const layerOf = new Map(layers.flatMap((keys, layer) => keys.map(key => [key, layer] as const)))
  const columns = layers.map(keys => [...new Set(keys)])
  const routes: { edge: LayeredEdge; keys: string[] }[] = []
  for (const [index, edge] of edges.entries()) {
    const [from, to] = [layerOf.get(edge.from), layerOf.get(edge.to)]
    if (from === undefined || to === undefined || from >= to) continue
    const keys = [edge.from]
    for (let layer = from + 1; layer < to; layer++) {
      const key = `\0${index} ${layer}`
      columns[layer]?.push(key)
      keys.push(key)
    }
    routes.push({ edge, keys: [...keys, edge.to] })
  }
  const [before, after] = neighbours(routes.map(({ keys }) => keys))
  const ordered = ordering(columns, before, after)
  const rows = rowsOf(ordered, before, after)
  const places = new Map(
    ordered.flatMap((keys, layer) => keys.map(key => [key, { layer, row: rows.get(key) ?? 0 }] as const)),
  )
  return {
    places: new Map([...places].filter(([key]) => layerOf.has(key))),
    edges: routes.map(({ edge, keys }) => ({ edge, points: keys.flatMap(key => places.get(key) ?? []) })),
    layers: layers.length,
    rows: Math.max(0, ...[...rows.values()].map(row => row + 1)),
  }
}

type Neighbours = ReadonlyMap<string, readonly string[]>

/** The neighbors of each key in the layer before it, and in the one after it. */
function neighbours(routes: readonly (readonly string[])[]): readonly [Neighbours, Neighbours] {
  const [before, after] = [new Map<string, string[]>(), new Map<string, string[]>()]
  const add = (map: Map<string, string[]>, key: string, other: string) => {
    const known = map.get(key)
    if (known) known.push(other)
    else map.set(key, [other])
  }
  for (const keys of routes) {
    for (const [at, key] of keys.entries()) {
      const next = keys[at + 1]
      if (next === undefined) continue
      add(after, key, next)
      add(before, next, key)
    }
  }
  return [before, after]
}

/** Each layer sorted by the mean place of its neighbors, forth and back in turn. */
function ordering(columns: readonly (readonly string[])[], before: Neighbours, after: Neighbours): string[][] {
  const ordered = columns.map(keys => [...keys])
  for (let round = 0; round < ROUNDS; round++) {
    const isForth = round % 2 === 0
    const indices = ordered.map((_, index) => index)
    for (const layer of isForth ? indices : indices.reverse()) {
      const other = new Map((ordered[layer + (isForth ? -1 : 1)] ?? []).map((key, at) => [key, at]))
      const keys = ordered[layer] ?? []
      const wanted = keys.map((key, at) => mean((isForth ? before : after).get(key) ?? [], other) ?? at)
      const sorted = keys.map((key, at) => ({ key, at, wanted: wanted[at] ?? at }))
      sorted.sort((a, b) => a.wanted - b.wanted || a.at - b.at)
      ordered[layer] = sorted.map(({ key }) => key)
    }
  }
  return ordered
}

/** A row for each key near the rows of its neighbors, so far from the next one in its layer that both have room. */
function rowsOf(ordered: readonly (readonly string[])[], before: Neighbours, after: Neighbours): Map<string, number> {
  const rows = new Map(ordered.flatMap(keys => keys.map((key, at) => [key, at] as const)))
  for (let pull = 0; pull < PULLS; pull++) {
    for (const keys of pull % 2 === 0 ? ordered : [...ordered].reverse()) {
      const wanted = keys.map(
        key => mean([...(before.get(key) ?? []), ...(after.get(key) ?? [])], rows) ?? rows.get(key) ?? 0,
      )
      // pushed down only, then up only: the middle of both keeps the distance
      const heights = keys.map(key => (key.startsWith('\0') ? PASSAGE : 1))
      const down = apart(wanted, heights)
      const up = apart(wanted.map(row => -row).reverse(), [...heights].reverse())
        .map(row => -row)
        .reverse()
      for (const [at, key] of keys.entries()) rows.set(key, ((down[at] ?? 0) + (up[at] ?? 0)) / 2)
    }
  }
  const first = Math.min(...rows.values())
  return new Map([...rows].map(([key, row]) => [key, Math.round((row - first) * 100) / 100]))
}

function apart(wanted: readonly number[], heights: readonly number[]): number[] {
  const rows: number[] = []
  for (const [at, row] of wanted.entries()) {
    const room = ((heights[at] ?? 1) + (heights[at - 1] ?? 1)) / 2
    rows.push(Math.max(row, (rows.at(-1) ?? Number.NEGATIVE_INFINITY) + room))
  }
  return rows
}

function mean(keys: readonly string[], places: ReadonlyMap<string, number>): number | undefined {
  const known = keys.flatMap(key => places.get(key) ?? [])
  return known.length === 0 ? undefined : known.reduce((sum, place) => sum + place, 0) / known.length
}
