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

/** How many grants in a row may each need the one before: of a longer row, no other grant of its author counts. */
const MAX_ROUNDS = 16

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
  for (let count = -1, round = 0; count < found.size; round++) {
    const latest = [...found.keys()].slice(Math.max(count, 0))
    count = found.size
    if (round === MAX_ROUNDS) {
      for (const [name, one] of authoredLike(latest, byName)) found.set(name, one)
      return found
    }
    const without = [...found.keys()]
    for (const [name, all] of byName) {
      const faults = found.has(name) ? [] : all.map(one => faultOf(one, without))
      const fault = faults.find(one => one && 'goesOn' in one) ?? faults[0]
      if (fault && !faults.includes(undefined)) found.set(name, { object: all.at(-1)!.object, ...fault })
    }
  }
  return found
}

/** All grants of those who wrote these. */
function* authoredLike(
  names: readonly string[],
  byName: readonly (readonly [string, readonly Rendered[]])[],
): Iterable<[string, UnappliedGrant]> {
  const wanted = new Set(names)
  const authors = new Set(byName.flatMap(([name, all]) => (wanted.has(name) ? all.map(({ node }) => node.tenant) : [])))
  for (const [name, all] of byName) {
    const why = `it is one of more than ${MAX_ROUNDS} grants in a row that need each other`
    if (all.every(({ node }) => authors.has(node.tenant))) yield [name, { object: all.at(-1)!.object, why }]
  }
}

/** Why nothing new of a node is applied: it is suspended or held, or waits for a Kustomization that is never ready. */
function nodeFaults(nodes: readonly FleetNode[]): (node: FleetNode) => Omit<UnappliedGrant, 'object'> | undefined {
  const held = new HeldNodes({ nodes })
  const byKey = new Map(nodes.map(node => [node.key, node]))
  const isUnseen = nodes.some(one => one.source.opaque !== undefined || whyIncomplete(one) !== undefined)
  const ownFault = (node: FleetNode) => {
    const name = nameOf(node)
    if (node.suspend) return { why: `${name} is suspended` }
    if (held.has(node.key)) {
      return { why: `what applies ${name} is suspended, or has Flux leave it alone`, goesOn: node.key }
    }
    const gone = isUnseen ? undefined : node.dependsOn.find(key => !byKey.has(key))
    if (gone === undefined) return undefined
    const [, namespace = '', needs = ''] = gone.split('/')
    return { why: `${name} waits for ${shownObject('Kustomization', namespace, needs)}, which the fleet does not have` }
  }
  const faults = new Map(nodes.map(node => [node.key, ownFault(node)]))
  const ready = readyNodes(nodes, faults)
  return node => {
    const key = faults.get(node.key) ? undefined : node.dependsOn.find(one => byKey.has(one) && !ready.has(one))
    const needed = key === undefined ? undefined : byKey.get(key)
    return needed ? { why: `${nameOf(node)} waits for ${nameOf(needed)}, which is never ready` } : faults.get(node.key)
  }
}

const nameOf = ({ namespace, name }: FleetNode) => shownObject('Kustomization', namespace, name)

/** The nodes without a fault that wait for such nodes only; a circle of Kustomizations waits for ever. A tenant can make chains of any length. */
function readyNodes(nodes: readonly FleetNode[], faults: ReadonlyMap<string, unknown>): ReadonlySet<string> {
  const pairs = nodes.flatMap(node => [...new Set(node.dependsOn)].map(key => ({ node, key })))
  const waiting = Map.groupBy(
    pairs.filter(({ key }) => faults.has(key)),
    ({ key }) => key,
  )
  const left = new Map<string, number>()
  for (const { node } of [...waiting.values()].flat()) left.set(node.key, (left.get(node.key) ?? 0) + 1)
  const ready = new Set(nodes.filter(({ key }) => !faults.get(key) && !left.has(key)).map(({ key }) => key))
  // a node that is added in the loop is visited too
  for (const key of ready) {
    for (const { node } of waiting.get(key) ?? []) {
      const count = left.get(node.key)! - 1
      left.set(node.key, count)
      if (count === 0 && !faults.get(node.key)) ready.add(node.key)
    }
  }
  return ready
}
