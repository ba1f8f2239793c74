import type { KubeObject } from '../../kube/object.ts'
import { needsOf } from '../graph/node-values.ts'
import type { Fleet, FleetNode } from '../model/fleet.ts'
import type { FleetInput } from '../model/input.ts'
import { refKey } from '../model/ref.ts'

/** A fleet as it was built from an input, with what the next one can be built from. */
export interface FleetState {
  readonly input: FleetInput
  readonly fleet: Fleet
  /** What was rendered, by node; of a root each step towards it. */
  readonly rendered: ReadonlyMap<string, readonly KubeObject[]>
  /** What was rendered instead since the fleet was walked: few things beside a map that is too large to copy. */
  readonly since: ReadonlyMap<string, readonly KubeObject[]>
  readonly shape: FleetShape
}

/** What stays the same as long as only what nodes render changes. */
interface FleetShape {
  /** Places of nodes in the fleet. */
  readonly positions: ReadonlyMap<string, number>
  /** Nodes that follow a source, or include it. */
  readonly readers: ReadonlyMap<string, readonly FleetNode['key'][]>
  /** Nodes whose releases deploy charts of a source. */
  readonly deployers: ReadonlyMap<string, readonly FleetNode['key'][]>
  /** Nodes of a tenant on a cluster, who share a budget. */
  readonly tenants: ReadonlyMap<string, readonly FleetNode['key'][]>
  /** What any Kustomization of a cluster substitutes from. */
  readonly needs: ReadonlySet<string>
  /** Clusters on which a right decides for whom a node acts. */
  readonly delegating: ReadonlySet<string>
}

/** The shape of a fleet. */
export function shapeOf({ nodes, clusters }: Fleet): FleetShape {
  const readers = new Map<string, string[]>()
  const deployers = new Map<string, string[]>()
  const tenants = new Map<string, string[]>()
  const needs = new Set<string>()
  for (const { key, cluster, hub, tenant, source, charts = [], kustomization } of nodes) {
    for (const one of [source, ...(source.includes ?? [])]) add(readers, sourceId(one), key)
    for (const one of charts) add(deployers, sourceId(one), key)
    if (tenant !== undefined) add(tenants, `${cluster}\0${tenant}`, key)
    for (const { id } of needsOf(kustomization)) needs.add(`${hub ?? cluster}\0${id}`)
  }
  const positions = new Map(nodes.map((node, index) => [node.key, index]))
  const delegating = new Set(clusters.flatMap(({ name, delegates }) => (delegates ? [name] : [])))
  return { positions, readers, deployers, tenants, needs, delegating }
}

/** What a source follows, as text; `url` is normalised. */
export const sourceId = ({ url, ref }: Pick<FleetNode['source'], 'url' | 'ref'>): string => `${url} ${refKey(ref)}`

function add(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}
