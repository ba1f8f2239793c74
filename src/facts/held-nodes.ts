import type { FleetNode } from '../fleet/model/fleet.ts'
import { KUSTOMIZE_GROUP } from '../flux/kinds.ts'
import { stringAt } from '../kube/node.ts'
import type { KubeObject } from '../kube/object.ts'

/**
 * The nodes of which Flux does not apply what git says of them: their Kustomization is marked to be left alone, or what
 * renders it is suspended or held itself. What was applied of it before goes on.
 */
export class HeldNodes {
  readonly #nodes: ReadonlyMap<string, FleetNode>
  readonly #known = new Map<string, boolean>()

  constructor({ nodes }: { readonly nodes: readonly FleetNode[] }) {
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

/** Whether Flux leaves an object in git alone (fluxcd/pkg ssa: labels and annotations, in any case). */
export function isMarked(object: KubeObject): boolean {
  return ['labels', 'annotations'].some(part => {
    const says = (name: string) =>
      stringAt(object.root, ['metadata', part, `${KUSTOMIZE_GROUP}/${name}`])?.toLowerCase()
    return says('reconcile') === 'disabled' || says('ssa') === 'ignore'
  })
}
