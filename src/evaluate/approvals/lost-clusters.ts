import { shown, shownName } from '../../facts/shown.ts'
import type { Cluster, Fleet } from '../../fleet/model/fleet.ts'
import type { RequiredApproval } from '../../rules/model/finding.ts'
import { startFile } from './start-file.ts'

const RULE = 'tenant-removed'

/**
 * Clusters of the base of which nothing is evaluated once the change is merged, or which start elsewhere or have another name
 * then, however they are found: their Flux still runs, and knows nothing of that.
 */
export function lostClusters(head: Fleet, base: Fleet): RequiredApproval[] {
  const stay = head.clusters.filter(({ former }) => !former)
  const gone = new Set(base.clusters.flatMap(was => (whatBecomesOf(was, stay) === undefined ? [] : [was.name])))
  return base.clusters.flatMap(was => {
    const what = whatBecomesOf(was, stay)
    // what a hub applies to others goes with it, and what moves is asked for by itself
    if (what === undefined || (was.hub !== undefined && (gone.has(was.hub) || isMoved(was, head, base)))) return []
    return [{ rule: RULE, path: startFile(was, base), message: `cluster ${shownName(was.name)}: ${what}` }]
  })
}

function whatBecomesOf({ name, path, hub }: Cluster, stay: readonly Cluster[]): string | undefined {
  const same = stay.find(one => one.name === name)
  if (same?.path === path) return undefined
  if (hub !== undefined) return same ? undefined : 'nothing is applied to it any longer'
  const from = path === '' ? 'the root of the repository' : shown(path)
  if (same) return `it would start from ${shown(same.path)}, not from ${from} as before`
  const renamed = stay.find(one => one.path === path && one.hub === undefined)
  if (renamed) return `it would be called ${shownName(renamed.name)}`
  return `it would no longer be evaluated, although its Flux may still follow ${from}`
}

/** Whether a Kustomization that was applied to it is applied elsewhere now. */
function isMoved({ name }: Cluster, head: Fleet, base: Fleet): boolean {
  const keys = new Set(head.nodes.map(({ key }) => key))
  return base.nodes.some(node => node.cluster === name && keys.has(node.key))
}
