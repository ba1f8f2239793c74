import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { canonical } from '../../../kube/node.ts'
import { groupOf, idOf } from '../../../kube/object.ts'

/** Roles and bindings that Flux does not apply, as `display` writes them, with the reason. */
export interface UnappliedNames {
  /** The cluster does not have them. */
  readonly absent: ReadonlyMap<string, string>
  /** Nor is it known whether the cluster has them, from an earlier change or from elsewhere. */
  readonly unsure: ReadonlyMap<string, string>
}

/** Of a cluster, after a change. What was applied before it, and is the same, the cluster has. */
export function unappliedNames(cluster: string, index: FleetIndex, before: FleetIndex | undefined): UnappliedNames {
  const [absent, unsure] = [new Map<string, string>(), new Map<string, string>()]
  const was = before?.unapplied(cluster)
  for (const [name, { object, why, goesOn }] of index.unapplied(cluster)) {
    const { apiVersion, kind, namespace, name: own } = idOf(object)
    const earlier = before?.versionsOf(cluster, `${groupOf(apiVersion)}/${kind}`, namespace, own) ?? []
    const isSame = earlier.some(one => canonical(one.object.root) === canonical(object.root))
    if (isSame && !was?.has(name)) continue
    const isNew = before !== undefined && earlier.length === 0 && before.node(goesOn) === undefined
    const names = isNew ? absent : unsure
    names.set(name, why)
  }
  return { absent, unsure }
}
