import { oncePer } from '../base/once-per.ts'
import { shownId } from '../fleet/facts/shown.ts'
import { type Fleet, type FleetNode, nodesByKey } from '../fleet/model/fleet.ts'
import { neededBy, references } from '../flux/references.ts'
import { fluxKind } from '../kube/flux-kinds.ts'
import { at, isTrue, originAt, type Path } from '../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../kube/object.ts'
import type { NodeFailure } from '../rules/model/finding.ts'
import { failureOf } from './findings.ts'

/** An object of Flux that is not ready before another one is. */
interface Wait {
  readonly from: string
  readonly to: string
  readonly node: FleetNode
  readonly object: KubeObject
  readonly path: Path
}

type Waits = ReadonlyMap<string, readonly Wait[]>

/**
 * Objects of Flux that wait for each other since this change: by `dependsOn` and `healthChecks`, and a Kustomization with
 * `wait` for what it applies. Flux accepts the circle, and nothing in it is ever ready (kustomize-controller,
 * internal/controller/kustomization_controller.go, checkDependencies). One failure for each circle.
 */
export function waitingCircles(head: Fleet, base: Fleet): NodeFailure[] {
  const before = nodesByKey(base.nodes)
  const isSame = (node: FleetNode, was: FleetNode | undefined) =>
    was === node || (was?.digest === node.digest && waitsForAll(was) === waitsForAll(node))
  const changed = head.nodes.filter(node => !isSame(node, before.get(node.key)))
  const known = new Set(changed.flatMap(({ key }) => waitsOf(before.get(key)).map(edgeOf)))
  const fresh = changed.flatMap(waitsOf).filter(wait => !known.has(edgeOf(wait)))
  if (fresh.length === 0) return []
  const waits = Map.groupBy(head.nodes.flatMap(waitsOf), ({ from }) => from)
  const circleOf = circles(waits)
  const first = new Map<number, Wait>()
  for (const wait of fresh) {
    const circle = circleOf.get(wait.from)!
    if (circle === circleOf.get(wait.to) && !first.has(circle)) first.set(circle, wait)
  }
  return [...first.values()].map(wait => failure(wait, wayBack(wait, waits)))
}

const edgeOf = ({ from, to }: Wait) => `${from} ${to}`
const waitsForAll = ({ kustomization }: FleetNode) => isTrue(at(kustomization.root, ['spec', 'wait']))

const NO_WAITS: readonly Wait[] = []
const waitsOf = (node: FleetNode | undefined) => (node ? waitsIn(node) : NO_WAITS)
const waitsIn = oncePer((node: FleetNode): readonly Wait[] => {
  const idIn = (target: string) => `${node.cluster} ${target}`
  const parent = waitsForAll(node) ? idIn(`Kustomization/${node.namespace}/${node.name}`) : undefined
  return node.objects.flatMap(object => {
    const { apiVersion, kind, namespace, name } = idOf(object)
    if (!fluxKind(`${groupOf(apiVersion)}/${kind}`)) return NO_WAITS
    const from = idIn(`${kind}/${namespace}/${name}`)
    const needed = neededBy(object).filter(({ path }) => path[1] === 'dependsOn')
    const checked = references(object).filter(({ path }) => path[1] === 'healthChecks')
    const targets = [
      ...needed,
      ...checked.map(one => ({ path: one.path, target: `${one.kind}/${one.namespace}/${one.name}` })),
    ]
    const own = targets.map(({ path, target }) => ({ from, to: idIn(target), node, object, path }))
    return parent === undefined ? own : [...own, { from: parent, to: from, node, object, path: ['metadata', 'name'] }]
  })
})

/** A number for each object that waits or is waited for; those that wait for each other have the same (Kosaraju's algorithm). */
function circles(waits: Waits): ReadonlyMap<string, number> {
  const ahead = (id: string) => (waits.get(id) ?? []).map(({ to }) => to)
  const behind = Map.groupBy([...waits.values()].flat(), ({ to }) => to)
  const done: string[] = []
  const seen = new Set<string>()
  for (const id of new Set([...waits.keys(), ...behind.keys()])) walk(id, ahead, seen, last => done.push(last))
  const numbers = new Map<string, number>()
  const taken = new Set<string>()
  const before = (id: string) => (behind.get(id) ?? []).map(({ from }) => from)
  for (const [number, id] of done.reverse().entries()) walk(id, before, taken, one => numbers.set(one, number))
  return numbers
}

/** Depth first, each once, without recursion: a tenant decides how long a way is. `leave` is called behind what follows. */
function walk(
  start: string,
  next: (id: string) => readonly string[],
  seen: Set<string>,
  leave: (id: string) => unknown,
): void {
  if (seen.has(start)) return
  seen.add(start)
  const open = [{ id: start, left: next(start).values() }]
  for (let top = open.at(-1); top; top = open.at(-1)) {
    const { value: id } = top.left.next()
    if (id === undefined) leave(open.pop()!.id)
    else if (!seen.has(id)) {
      seen.add(id)
      open.push({ id, left: next(id).values() })
    }
  }
}

/** The shortest way from what is waited for to what waits, both included. */
function wayBack({ from, to }: Wait, waits: Waits): string[] {
  const cameFrom = new Map<string, string | undefined>([[to, undefined]])
  // what is added in the loop is visited too
  for (const [id] of cameFrom) {
    if (id === from) break
    for (const wait of waits.get(id) ?? []) if (!cameFrom.has(wait.to)) cameFrom.set(wait.to, id)
  }
  const way: string[] = []
  for (let id: string | undefined = from; id !== undefined; id = cameFrom.get(id)) way.unshift(id)
  return way
}

const MAX_NAMES = 5

function failure({ node, object, path }: Wait, way: readonly string[]): NodeFailure {
  const names = way.map(id => shownId(id.slice(id.indexOf(' ') + 1)))
  const last = names.at(-1)!
  const rest = names.length - MAX_NAMES
  const shown = rest > 0 ? [...names.slice(0, MAX_NAMES - 1), `${rest + 1} more`] : names.slice(0, -1)
  const circle = names.length === 1 ? '' : ` (${[last, ...shown, last].join(' -> ')})`
  return failureOf(
    node,
    {
      code: 'flux-invalid',
      message: `${last} waits for itself${circle}, so Flux would never apply a change of it again`,
      fix: 'Remove one link: an entry of spec.dependsOn or spec.healthChecks, or spec.wait.',
    },
    originAt(object.root, path),
  )
}
