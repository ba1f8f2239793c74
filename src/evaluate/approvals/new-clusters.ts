import { shown, shownName } from '../../facts/shown.ts'
import type { Cluster, Fleet } from '../../fleet/model/fleet.ts'
import type { RequiredApproval } from '../../rules/model/finding.ts'
import { startFile } from './start-file.ts'

const RULE = 'flux-control-plane-object'

/**
 * Clusters that the base does not have, and further ways in which one of the base starts. What a cluster is given before
 * somebody starts it is applied as a whole, as the platform, and nobody is a tenant there but who the change says.
 */
export function newClusters(head: Fleet, base: Fleet): RequiredApproval[] {
  const before = new Map(base.clusters.map(cluster => [cluster.name, cluster]))
  const stay = head.clusters.filter(({ former, hub }) => !former && hub === undefined)
  const names = new Set(stay.map(({ name }) => name))
  // a cluster that gets another name is asked for as such
  const renamed = new Set(base.clusters.flatMap(({ name, path }) => (names.has(name) ? [] : [path])))
  return stay.flatMap(cluster => {
    const { name, path } = cluster
    const was = before.get(name)
    if (was) return otherStarts(cluster, was)
    if (renamed.has(path)) return []
    const from = path === '' ? 'the root of the repository' : shown(path)
    const message = `cluster ${shownName(name)} is new: Flux would apply ${from} to it as the platform, as soon as Flux is started there`
    return [{ rule: RULE, path: startFile(cluster, head), message }]
  })
}

/** Of several that say how one cluster starts, one is evaluated. */
function otherStarts({ name, otherStarts: now = [] }: Cluster, was: Cluster): RequiredApproval[] {
  const known = new Set((was.otherStarts ?? []).map(({ text }) => text))
  return now.flatMap(({ file, text }) => {
    if (known.has(text)) return []
    const message = `${file} defines the start of cluster ${shownName(name)} a second time, and differently. Only one of the two is evaluated, and Flux may apply either`
    return [{ rule: RULE, path: file, message }]
  })
}
