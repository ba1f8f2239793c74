import type { FleetIndex } from '../facts/fleet-index.ts'
import { shown } from '../facts/shown.ts'
import type { Cluster, FleetNode } from '../fleet/model/fleet.ts'
import { whyIncomplete } from '../fleet/model/why-incomplete.ts'

/** What the items of an audit are made of. */
export interface AuditedCluster {
  readonly cluster: Cluster
  /** All of the cluster. */
  readonly nodes: readonly FleetNode[]
  readonly index: FleetIndex
}

/** Why something that the platform renders may be there unseen: a node of it that failed or could not be read. */
export function unseenPart({ nodes }: AuditedCluster, which: (node: FleetNode) => boolean): string | undefined {
  const node = nodes.find(one => which(one) && (whyIncomplete(one) !== undefined || one.source.opaque !== undefined))
  if (!node) return undefined
  const error = whyIncomplete(node)
  const why = error ? `it cannot be rendered as a whole (${error.code})` : `its source was not seen`
  return `what Kustomization ${shown(`${node.namespace}/${node.name}`)} applies is not known: ${why}`
}

export const isPlatforms = (node: FleetNode): boolean => node.tenant === undefined
