import type { ApprovedNode } from '../../src/approval/approve.ts'

type Step = { readonly node: ApprovedNode } | { readonly node: ApprovedNode; readonly held: string }

/**
 * Walks approved nodes, each after its parent and after what it depends on. `done` is asked at the moment of each turn:
 * true where a node was applied completely. A node whose turn never comes is held, with the reason (circles included).
 * A suspended node holds its children too: their specs are its rendering, which is not to be applied now.
 */
export function* applySequence(
  nodes: readonly ApprovedNode[],
  done: (key: string) => boolean,
): Generator<Step, void, void> {
  const waiting = new Map(nodes.map(node => [node.key, node]))
  const parentsDone = (node: ApprovedNode) => node.parent === null || !waiting.has(node.parent)
  const suspended = new Map<string, string>()
  const missing = (node: ApprovedNode) => node.dependsOn.find(key => !done(key))
  const isSuspended = (node: ApprovedNode) => node.suspend || (node.parent !== null && suspended.has(node.parent))
  for (let moved = true; moved; ) {
    moved = false
    for (const node of waiting.values()) {
      if (!parentsDone(node) || (!isSuspended(node) && missing(node) !== undefined)) continue
      waiting.delete(node.key)
      moved = true
      const above = node.parent === null ? undefined : suspended.get(node.parent)
      const held = node.suspend ? 'it is suspended' : above && `${above} is suspended`
      if (held) suspended.set(node.key, node.suspend ? node.key : above!)
      yield held ? { node, held } : { node }
    }
  }
  for (const node of waiting.values()) {
    const dependency = missing(node)
    const held =
      dependency === undefined ? `its parent ${node.parent} waits` : `its dependency ${dependency} is not ready`
    yield { node, held }
  }
}
