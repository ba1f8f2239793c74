import { BailiwickError } from '../errors.ts'
import type { Fleet } from '../fleet/model/fleet.ts'
import type { Tree } from '../git/tree.ts'
import type { MapNode } from '../kube/node.ts'
import type { KubeObject } from '../kube/object.ts'
import type { Placed } from './belongings.ts'
import { compareChanged, type OwnerChange } from './compare-changed.ts'
import type { Edits } from './edited-tree.ts'
import type { OffboardStage } from './request.ts'

/** The fleet before a transfer. */
export interface TransferScene {
  readonly before: Fleet
  readonly tree: Tree
  readonly fleetUrl: string
  /** Every object that the fleet's own files contain. */
  readonly placed: readonly Placed[]
  /** Renders the fleet with edits. */
  readonly rendered: (edits: Edits) => Fleet
}

/** The next change of a transfer. */
export interface TransferStep {
  readonly stage: OffboardStage
  readonly edits: Edits
  /** The objects that are added, changed or removed. */
  readonly objects: readonly { readonly cluster: string; readonly root: MapNode }[]
  readonly notes: readonly string[]
}

/** Looks up the replacements of an object by node, because caches share objects between nodes. */
export function lookUp(changes: readonly (readonly [Placed, MapNode])[]) {
  const byNode = new Map<string, Map<KubeObject, MapNode[]>>()
  for (const [{ node, object }, root] of changes) {
    const of = byNode.get(node.key) ?? new Map<KubeObject, MapNode[]>()
    byNode.set(node.key, of.set(object, [...(of.get(object) ?? []), root]))
  }
  return ({ node, object }: Placed): readonly MapNode[] | undefined => byNode.get(node.key)?.get(object)
}

/** Renders the edits and compares. Throws `offboard-layout` if anything else would change. */
export function assertExact({ before, rendered }: TransferScene, edits: Edits, change: OwnerChange): void {
  const problem = compareChanged(before, rendered(edits), change)
  if (problem !== undefined) throw inexact(edits, problem)
}

/** The error for edits that would change something else. */
export function inexact(edits: Edits, problem: string): BailiwickError {
  const files = [...edits.keys()].sort()
  return new BailiwickError(
    'offboard-layout',
    `no edit of ${files.join(', ') || 'the fleet'} makes exactly this change: ${problem}`,
    {
      fix: 'Write the value in the object itself, not in an overlay, patch or generator, then run the command again.',
      ...(files[0] === undefined ? {} : { origin: { repository: '', file: files[0], line: 1, column: 1 } }),
    },
  )
}
