import type { Fleet } from '../../fleet/model/fleet.ts'
import type { NodeFailure } from '../../rules/model/finding.ts'

/**
 * Without new errors of a Kustomization that something renders of which Flux applies nothing for a new error: what it would be is
 * not known, and it stays on the cluster as it was. The error that remains blocks.
 */
export function leadingErrors(errors: readonly NodeFailure[], { nodes }: Fleet): NodeFailure[] {
  const isNew = ({ state }: NodeFailure) => state === 'new'
  const refused = new Set(errors.filter(one => isNew(one) && one.blocksApply).map(({ node }) => node))
  const parents = new Map(nodes.map(({ key, parent }) => [key, parent]))
  const follows = (key: string) => {
    let above = parents.get(key)
    while (above !== undefined && !refused.has(above)) above = parents.get(above)
    return above !== undefined
  }
  return errors.filter(one => !(isNew(one) && follows(one.node)))
}
