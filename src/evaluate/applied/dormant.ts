import { kindOf } from '../../facts/kind-of.ts'
import type { Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import { fluxKind, KUSTOMIZE_GROUP } from '../../flux/kinds.ts'
import { at, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import type { Finding } from '../../rules/model/finding.ts'

type Where = Pick<Finding, 'node' | 'object'>

/**
 * The nodes of which Flux does not apply what git says of them: their Kustomization is marked to be left alone, or what
 * renders it is suspended or held itself. What was applied of it before goes on.
 */
export class HeldNodes {
  readonly #nodes: ReadonlyMap<string, FleetNode>
  readonly #known = new Map<string, boolean>()

  constructor({ nodes }: Fleet) {
    this.#nodes = new Map(nodes.map(node => [node.key, node]))
  }

  has(key: string): boolean {
    const before = this.#known.get(key)
    if (before !== undefined) return before
    // set first: whatever a fleet holds, this ends
    this.#known.set(key, false)
    const node = this.#nodes.get(key)
    const parent = node?.parent
    // who applied a root is not known; it goes on, whatever it says of itself
    const isHeld = parent !== undefined && (isMarked(node!.kustomization) || this.isDormant(parent))
    this.#known.set(key, isHeld)
    return isHeld
  }

  /** Whether a node is held or suspended. */
  isDormant(key: string): boolean {
    return this.#nodes.get(key)?.suspend === true || this.has(key)
  }
}

/**
 * Tells what of a fleet git holds and Flux does not apply: of a Kustomization that is suspended, or below one, and objects that
 * Flux is told to leave alone. What stands there is let stand by nobody: it was never seen to do anything.
 */
export function dormantIn(fleet: Fleet): (where: Where) => boolean {
  const held = new HeldNodes(fleet)
  const byKey = new Map(fleet.nodes.map(node => [node.key, node]))
  const objects = new Map<string, ReadonlySet<string>>()
  const leftAlone = (node: FleetNode): ReadonlySet<string> => {
    const before = objects.get(node.key)
    if (before) return before
    const found = new Set(node.objects.flatMap(object => (isLeftAlone(object) ? [nameOf(idOf(object))] : [])))
    objects.set(node.key, found)
    return found
  }
  return ({ node: key, object }) => {
    const node = byKey.get(key)
    return node !== undefined && (held.isDormant(key) || leftAlone(node).has(nameOf(object)))
  }
}

const nameOf = ({ apiVersion, kind, namespace, name }: Where['object']) =>
  JSON.stringify([groupOf(apiVersion), kind, namespace, name])

const isLeftAlone = (object: KubeObject) => isMarked(object) || isSuspended(object)

/** Whether Flux leaves an object in git alone (fluxcd/pkg ssa: labels and annotations, in any case). */
function isMarked(object: KubeObject): boolean {
  return ['labels', 'annotations'].some(part => {
    const says = (name: string) =>
      stringAt(object.root, ['metadata', part, `${KUSTOMIZE_GROUP}/${name}`])?.toLowerCase()
    return says('reconcile') === 'disabled' || says('ssa') === 'ignore'
  })
}

/** Whether an object of Flux says that its controller does nothing for it: by a field, or by an annotation of its group. */
function isSuspended(object: KubeObject): boolean {
  const row = fluxKind(kindOf(object))
  if (!row) return false
  const suspend = at(object.root, ['spec', 'suspend'])
  if (suspend?.type === 'scalar' && suspend.value === true) return true
  return stringAt(object.root, ['metadata', 'annotations', `${row.group}/reconcile`])?.toLowerCase() === 'disabled'
}
