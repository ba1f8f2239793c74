import type { ApprovedNode } from '../../src/rules/approve.ts'

export type Step = { readonly node: ApprovedNode } | { readonly node: ApprovedNode; readonly held: string }

/**
 * Walks approved nodes, each after its parent and after what it depends on. `done` is asked at the moment of each turn:
 * true where a node was applied completely. A node whose turn never comes is held, with the reason (circles included).
 */
export function* applySequence(
  nodes: readonly ApprovedNode[],
  done: (key: string) => boolean,
): Generator<Step, void, void> {
  const waiting = new Map(nodes.map(node => [node.key, node]))
  const parentsDone = (node: ApprovedNode) => node.parent === null || !waiting.has(node.parent)
  const missing = (node: ApprovedNode) => node.dependsOn.find(key => !done(key))
  for (let moved = true; moved; ) {
    moved = false
    for (const node of waiting.values()) {
      if (!parentsDone(node) || (!node.suspend && missing(node) !== undefined)) continue
      waiting.delete(node.key)
      moved = true
      yield node.suspend ? { node, held: 'it is suspended' } : { node }
    }
  }
  for (const node of waiting.values()) {
    const dependency = missing(node)
    const held =
      dependency === undefined ? `its parent ${node.parent} waits` : `its dependency ${dependency} is not ready`
    yield { node, held }
  }
}
