import type { FleetNode } from '../../fleet/model/fleet.ts'
import type { EvaluatedNode, Finding, NodeFailure } from '../../rules/model/finding.ts'
import { evaluatedNode } from './evaluated-node.ts'

const known = new WeakMap<readonly FleetNode[], readonly EvaluatedNode[]>()

/** Every node with what was found in it, by its key. `like`: nodes of which most are the very same at their places. */
export function evaluatedNodes(
  nodes: readonly FleetNode[],
  found: ReadonlyMap<string, readonly Finding[]>,
  failed: ReadonlyMap<string, readonly NodeFailure[]>,
  like?: readonly FleetNode[],
): readonly EvaluatedNode[] {
  const clean = cleanNodes(nodes, like)
  if (found.size === 0 && failed.size === 0) return clean
  return clean.map((one, place) => {
    const [findings, failures] = [found.get(one.key), failed.get(one.key)]
    return findings || failures ? evaluatedNode(nodes[place]!, findings ?? [], failures ?? []) : one
  })
}

function cleanNodes(nodes: readonly FleetNode[], like: readonly FleetNode[] | undefined): readonly EvaluatedNode[] {
  const before = known.get(nodes)
  if (before) return before
  const others = like && cleanNodes(like, undefined)
  const clean: EvaluatedNode[] = []
  for (let place = 0; place < nodes.length; place++) {
    const node = nodes[place]!
    clean.push(others && node === like?.[place] ? others[place]! : evaluatedNode(node, [], []))
  }
  known.set(nodes, clean)
  return clean
}
