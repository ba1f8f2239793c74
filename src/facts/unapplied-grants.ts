import type { FleetNode } from '../fleet/model/fleet.ts'
import { whyIncomplete } from '../fleet/model/why-incomplete.ts'
import { display, idOf, type KubeObject } from '../kube/object.ts'
import { HeldNodes, isMarked } from './held-nodes.ts'
import type { Rendered } from './object-table.ts'
import { shownObject } from './shown.ts'

/** A role or binding that is rendered and that Flux does not apply: what was on the cluster before stays as it was. */
export interface UnappliedGrant {
  readonly object: KubeObject
  /** In a sentence. */
  readonly why: string
  /** A Kustomization that goes on as the cluster has it, if it is there. */
  readonly goesOn?: string
}

/** Why a right that is visible may not be there. */
export interface OnlyUnapplied {
  /** The API server's words, if it is not. */
  readonly message: string
  /** Each in a sentence without its period. */
  readonly reasons: readonly string[]
}

/** In a sentence without its period. */
export const unappliedText = (name: string, why: string): string => `${name} is not applied: ${why}`

/** Why Flux would not apply an object of a node that it applies; undefined: it would. */
type Refused = (rendered: Rendered, without: readonly string[]) => string | undefined

/** What of the roles and bindings of one cluster Flux does not apply, by what `display` writes. One that any Kustomization applies is applied. */
export function unappliedGrants(
  grants: readonly Rendered[],
  nodes: readonly FleetNode[],
  refused: Refused,
): ReadonlyMap<string, UnappliedGrant> {
  const nodeFault = nodeFaults(nodes)
  const byName = [...Map.groupBy(grants, ({ object }) => display(idOf(object)))]
  const faultOf = (rendered: Rendered, without: readonly string[]): Omit<UnappliedGrant, 'object'> | undefined => {
    const { node, object } = rendered
    if (isMarked(object)) return { why: 'its metadata has Flux leave it alone' }
    const fault = nodeFault(node)
    if (fault) return fault
    const why = refused(rendered, without)
    return why === undefined ? undefined : { why }
  }
  const found = new Map<string, UnappliedGrant>()
  // whom a grant lets write others may not write them without it
  for (let count = -1; count < found.size; ) {
    count = found.size
    const without = [...found.keys()]
    for (const [name, all] of byName) {
      const faults = found.has(name) ? [] : all.map(one => faultOf(one, without))
      const fault = faults.find(one => one && 'goesOn' in one) ?? faults[0]
      if (fault && !faults.includes(undefined)) found.set(name, { object: all.at(-1)!.object, ...fault })
    }
  }
  return found
}

/** Why nothing new of a node is applied: it is suspended or held, or waits for a Kustomization that is never ready. */
function nodeFaults(nodes: readonly FleetNode[]): (node: FleetNode) => Omit<UnappliedGrant, 'object'> | undefined {
  const held = new HeldNodes({ nodes })
  const byKey = new Map(nodes.map(node => [node.key, node]))
  const known = new Map<string, Omit<UnappliedGrant, 'object'> | undefined>()
  const faultOf = (node: FleetNode) => {
    if (known.has(node.key)) return known.get(node.key)
    const name = shownObject('Kustomization', node.namespace, node.name)
    // until it is known: a circle of Kustomizations waits for ever
    known.set(node.key, { why: `${name} waits for itself` })
    const fault = work(node, name)
    known.set(node.key, fault)
    return fault
  }
  const work = (node: FleetNode, name: string) => {
    if (node.suspend) return { why: `${name} is suspended` }
    if (held.has(node.key)) {
      return { why: `what applies ${name} is suspended, or has Flux leave it alone`, goesOn: node.key }
    }
    for (const key of node.dependsOn) {
      const needed = byKey.get(key)
      const [, namespace = '', needs = ''] = key.split('/')
      const other = shownObject('Kustomization', namespace, needs)
      if (needed && faultOf(needed)) return { why: `${name} waits for ${other}, which is never ready` }
      const isUnseen = (one: FleetNode) => one.source.opaque !== undefined || whyIncomplete(one) !== undefined
      if (!needed && !nodes.some(isUnseen)) return { why: `${name} waits for ${other}, which the fleet does not have` }
    }
    return undefined
  }
  return faultOf
}
